import { assert, layer } from "@effect/vitest"
import type { Ids, InvoiceEvent, SandboxScenario } from "@govoice/core"
import { Context, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import * as InvoiceWorker from "../../../src/invoices/sandbox/InvoiceWorker.ts"
import * as Notifier from "../../../src/jobs/Notifier.ts"
import * as Invoices from "../../../src/invoices/Invoices.ts"
import * as SubmitInvoice from "../../../src/invoices/SubmitInvoice.ts"
import { database } from "../../support/TestDatabase.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"
import { patienceMs } from "../../../../../test/support/patienceMs.ts"

const stepMs = 1000

interface Stored {
  readonly status: string
  readonly attempt_count: number
  readonly due_at: Date | null
  readonly next_attempt_at: Date | null
  readonly updated_at: Date
  readonly submitted_at: Date | null
  readonly completed_at: Date | null
  readonly upo_available: boolean
  readonly failure: { readonly code: string } | null
  readonly rejection: { readonly code: string } | null
}

/** The effects of a worker, without its loop. */
class Worker extends Context.Service<Worker, Effect.Success<typeof InvoiceWorker.make>>()("test/InvoiceWorker") {}

const read = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Stored>`SELECT * FROM invoices WHERE id = ${id}`
  return row!
})

const events = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly body: string; readonly deliveries: number }>`
    SELECT body, (SELECT count(*)::int FROM deliveries WHERE event_id = events.id) AS deliveries
    FROM events WHERE invoice_id = ${id} ORDER BY id
  `
  return rows.map(({ body, deliveries }) => ({ event: JSON.parse(body) as InvoiceEvent.InvoiceEvent, deliveries }))
})

const submit = Effect.fnUntraced(function* (
  organizationId: Ids.OrganizationId,
  scenario: SandboxScenario.Scenario,
  key: string
) {
  const { submit } = yield* SubmitInvoice.SubmitInvoice
  const submission = fixtures.submission({ organizationId, metadata: { order: "4711" }, scenario, idempotencyKey: key })
  const submitted = yield* submit(submission)
  const notifier = yield* Effect.serviceOption(Notifier.Notifier)
  if (Option.isSome(notifier)) yield* notifier.value.wake("invoices")
  return submitted
})

// The test clock does not affect the response time of the database.
const eventually = <E, R>(what: string, check: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    for (const deadline = performance.now() + patienceMs; performance.now() < deadline;) {
      if (yield* check) return
      yield* TestClock.withLive(Effect.sleep(5))
    }
    assert.fail(`Waited in vain: ${what}`)
  })

// Advances the clock by one step, after which the invoice is expected in this state.
const step = (id: string, milliseconds: number, check: (row: Stored) => boolean) =>
  Effect.gen(function* () {
    yield* TestClock.adjust(milliseconds)
    yield* eventually(`${id} after ${milliseconds}`, Effect.map(read(id), check))
    return yield* read(id)
  })

const begin = Effect.andThen(fixtures.clear, TestClock.setTime(0))
const submissions = <R, E, RIn>(worker: Layer.Layer<R, E, RIn>) =>
  Layer.mergeAll(worker, Invoices.layer, SubmitInvoice.layer).pipe(
    Layer.provideMerge(Layer.merge(Notifier.layer, TestSettings.layer({ sandboxStepMs: stepMs })))
  )

layer(database.layer, { timeout: "120 seconds" })(`InvoiceWorker (${database.name})`, (it) => {
  const test = <R>(
    name: string,
    services: Layer.Layer<R, never, Layer.Success<typeof database.layer>>,
    body: () => Effect.Effect<void, unknown, R | SqlClient.SqlClient>
  ) =>
    it.effect(name, () =>
      Effect.andThen(begin, Effect.scoped(Effect.provide(body(), Layer.fresh(services as Layer.Layer<R>))))
    )

  test(
    "takes an invoice to its receipt, each step at its time and none earlier",
    submissions(InvoiceWorker.layer),
    () =>
      Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        yield* fixtures.endpoint(organizationId)
        yield* fixtures.endpoint(organizationId, { eventTypes: ["invoice.accepted"] })
        yield* fixtures.endpoint(organizationId, { enabled: false })
        const { body, invoiceId } = yield* submit(organizationId, "accepted", "1")

        yield* TestClock.adjust(stepMs - 1)
        yield* TestClock.withLive(Effect.sleep(50))
        assert.include(yield* read(invoiceId), { status: "queued", attempt_count: 0 })

        const submitted = yield* step(invoiceId, 1, ({ status }) => status === "submitted")
        assert.include(submitted, { attempt_count: 1, completed_at: null })
        assert.deepStrictEqual(
          [submitted.submitted_at, submitted.updated_at, submitted.due_at].map((at) => at?.getTime()),
          [1000, 1000, 2000]
        )
        const accepted = yield* step(invoiceId, stepMs, ({ status }) => status === "accepted")
        assert.include(accepted, { upo_available: false, attempt_count: 1 })
        assert.deepStrictEqual(
          [accepted.submitted_at, accepted.completed_at, accepted.due_at].map((at) => at?.getTime()),
          [1000, 2000, 3000]
        )
        const done = yield* step(invoiceId, stepMs, (row) => row.upo_available)
        assert.include(done, { status: "accepted", due_at: null, attempt_count: 1 })
        assert.strictEqual(done.completed_at?.getTime(), 2000)

        const told = yield* events(invoiceId)
        assert.deepStrictEqual(
          told.map(({ deliveries, event }) => [event.type, Date.parse(event.created_at), deliveries]),
          [
            ["invoice.received", 0, 1],
            ["invoice.submitted", 1000, 1],
            ["invoice.accepted", 2000, 2],
            ["invoice.upo_available", 3000, 1]
          ]
        )
        assert.deepStrictEqual(told[0]!.event.data.invoice, JSON.parse(body))
        const invoices = yield* Invoices.Invoices
        assert.deepStrictEqual(
          told[3]!.event.data.invoice,
          yield* invoices.find({ organizationId, mode: "test" }, invoiceId)
        )
        const { sha256, xml } = yield* invoices.receipt({ organizationId, mode: "test" }, invoiceId)
        assert.include(new TextDecoder().decode(xml), "sandbox")
        assert.strictEqual(sha256.length, 32)
      })
  )

  test("plays a temporary failure: three attempts after one, one and two steps", submissions(InvoiceWorker.layer), () =>
    Effect.gen(function* () {
      const organizationId = yield* fixtures.organization
      const { invoiceId } = yield* submit(organizationId, "temporary_failure", "1")
      const first = yield* step(invoiceId, stepMs, ({ status }) => status === "retrying")
      assert.include(first, { attempt_count: 1, submitted_at: null })
      assert.strictEqual(first.next_attempt_at?.getTime(), 2000)
      assert.strictEqual(first.failure?.code, "gateway_unavailable")
      const second = yield* step(invoiceId, stepMs, (row) => row.attempt_count === 2 && row.status === "retrying")
      assert.strictEqual(second.next_attempt_at?.getTime(), 4000)
      const failed = yield* step(invoiceId, 2 * stepMs, ({ status }) => status === "failed")
      assert.include(failed, { attempt_count: 3, next_attempt_at: null, due_at: null })
      assert.strictEqual(failed.completed_at?.getTime(), 4000)
      const told = yield* events(invoiceId)
      assert.deepStrictEqual(
        told.map(({ event }) => event.type),
        ["invoice.received", "invoice.failed"]
      )
    })
  )

  test("plays a rejection", submissions(InvoiceWorker.layer), () =>
    Effect.gen(function* () {
      const organizationId = yield* fixtures.organization
      const { invoiceId } = yield* submit(organizationId, "rejected", "1")
      yield* step(invoiceId, stepMs, ({ status }) => status === "submitted")
      const rejected = yield* step(invoiceId, stepMs, ({ status }) => status === "rejected")
      assert.include(rejected, { due_at: null, upo_available: false })
      assert.strictEqual(rejected.rejection?.code, "sandbox_rejected")
      const told = yield* events(invoiceId)
      assert.strictEqual(told.at(-1)!.event.data.invoice.status, "rejected")
    })
  )

  const worker = Layer.effect(Worker, InvoiceWorker.make)

  test("writes nothing when it ends within its transaction, and the next one does", submissions(worker), () =>
    Effect.gen(function* () {
      const { advanceDue } = yield* Worker
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      yield* fixtures.endpoint(organizationId)
      const { invoiceId } = yield* submit(organizationId, "accepted", "1")
      yield* TestClock.adjust(stepMs)
      const before = yield* read(invoiceId)
      const ended = yield* Effect.exit(sql.withTransaction(Effect.andThen(advanceDue, Effect.fail("ended"))))
      assert.strictEqual(ended._tag, "Failure")
      assert.deepStrictEqual(yield* read(invoiceId), before)
      assert.strictEqual((yield* events(invoiceId)).length, 1)

      assert.strictEqual((yield* advanceDue).written.length, 1)
      assert.include(yield* read(invoiceId), { status: "submitted", attempt_count: 1 })
      assert.deepStrictEqual(yield* advanceDue, { due: 0, written: [] })
      const told = yield* events(invoiceId)
      assert.deepStrictEqual(
        told.map(({ deliveries, event }) => [event.type, deliveries]),
        [
          ["invoice.received", 1],
          ["invoice.submitted", 1]
        ]
      )
    })
  )

  test("moves many invoices in one transaction, each with its own event", submissions(worker), () =>
    Effect.gen(function* () {
      const { advanceDue } = yield* Worker
      const organizations = yield* Effect.forEach([1, 2, 3], () => fixtures.organization)
      for (const id of organizations) yield* fixtures.endpoint(id)
      const invoices: Array<string> = []
      for (let n = 0; n < 30; n++) {
        invoices.push((yield* submit(organizations[n % 3]!, "rejected", String(n))).invoiceId)
      }
      for (let step = 0; step < 2; step++) {
        yield* TestClock.adjust(stepMs)
        assert.strictEqual((yield* advanceDue).written.length, 30)
      }
      for (const id of invoices) {
        const told = yield* events(id)
        assert.deepStrictEqual(
          told.map(({ deliveries, event }) => [event.type, event.data.invoice.id, deliveries]),
          [
            ["invoice.received", id, 1],
            ["invoice.submitted", id, 1],
            ["invoice.rejected", id, 1]
          ]
        )
      }
    })
  )

  test("postpones an invoice that cannot be written, and writes the others", submissions(worker), () =>
    Effect.gen(function* () {
      const { advanceDue } = yield* Worker
      const sql = yield* SqlClient.SqlClient
      const organizationId = yield* fixtures.organization
      const [faulty, ...others] = yield* Effect.forEach([1, 2, 3, 4], (n) =>
        Effect.map(submit(organizationId, "accepted", String(n)), ({ invoiceId }) => invoiceId)
      )
      // The database refuses the submission of this invoice alone.
      yield* sql`ALTER TABLE invoices ADD CONSTRAINT fault CHECK (submitted_at IS NULL OR id <> ${sql.literal(`'${faulty!}'`)})`
      yield* TestClock.adjust(stepMs)
      const { due, written } = yield* advanceDue
      yield* sql`ALTER TABLE invoices DROP CONSTRAINT fault`
      assert.strictEqual(due, 4)
      assert.sameMembers(
        written.map(({ invoice }) => invoice.id as string),
        others
      )
      const { due_at, status } = yield* read(faulty!)
      assert.deepStrictEqual([status, due_at?.getTime()], ["queued", stepMs + 60_000])
      yield* TestClock.adjust(60_000)
      yield* advanceDue
      assert.strictEqual((yield* read(faulty!)).status, "submitted")
    })
  )

  test("takes the invoices that have been due for longest, and says when the next is", submissions(worker), () =>
    Effect.gen(function* () {
      const { advanceDue, nextDueAt } = yield* Worker
      const organizationId = yield* fixtures.organization
      for (let n = 0; n < 130; n++) {
        yield* submit(organizationId, "rejected", String(n))
        yield* TestClock.adjust(1)
      }
      assert.strictEqual(yield* nextDueAt, stepMs)
      yield* TestClock.adjust(stepMs)
      const first = (yield* advanceDue).written.map(({ invoice }) => invoice.created_at.getTime())
      assert.deepStrictEqual(
        first.toSorted((left, right) => left - right),
        Array.from({ length: 100 }, (_, n) => n)
      )
      assert.strictEqual((yield* advanceDue).written.length, 30)
      assert.strictEqual(yield* nextDueAt, 2 * stepMs + 130)
    })
  )
})
