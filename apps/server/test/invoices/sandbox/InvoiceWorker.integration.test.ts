import { assert, layer } from "@effect/vitest"
import type { Ids, InvoiceEvent, SandboxScenario } from "@govoice/core"
import { Clock, Effect, Layer, Ref, Option } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import type * as ClaimedInvoice from "../../../src/invoices/ClaimedInvoice.ts"
import * as InvoiceQueue from "../../../src/invoices/sandbox/InvoiceQueue.ts"
import * as InvoiceWorker from "../../../src/invoices/sandbox/InvoiceWorker.ts"
import * as Notifier from "../../../src/jobs/Notifier.ts"
import {
  type GatewayInvoice,
  type InvoiceGateway,
  InvoiceGateways,
  type SubmitAnswer
} from "../../../src/invoices/sandbox/gateway/InvoiceGateway.ts"
import * as SandboxGateway from "../../../src/invoices/sandbox/gateway/SandboxGateway.ts"
import * as Invoices from "../../../src/invoices/Invoices.ts"
import * as SubmitInvoice from "../../../src/invoices/SubmitInvoice.ts"
import { databases } from "../../support/TestDatabase.ts"
import * as fixtures from "../../support/fixtures.ts"
import * as TestSettings from "../../support/TestSettings.ts"

const stepMs = 1000
const leaseMs = 30_000

interface Stored {
  readonly status: string
  readonly is_leased: boolean
  readonly fencing_token: number
  readonly attempt_count: number
  readonly reference: string | null
  readonly due_at: Date | null
  readonly next_attempt_at: Date | null
  readonly updated_at: Date
  readonly submitted_at: Date | null
  readonly completed_at: Date | null
  readonly upo_available: boolean
  readonly failure: { readonly code: string } | null
  readonly rejection: { readonly code: string } | null
}

const read = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Stored>`SELECT * FROM invoices WHERE id = ${id}`
  return row!
})

const events = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly body: string; readonly created_at: Date; readonly deliveries: number }>`
    SELECT body, created_at, (SELECT count(*)::int FROM deliveries WHERE event_id = events.id) AS deliveries
    FROM events WHERE invoice_id = ${id} ORDER BY created_at, id
  `
  return rows.map(({ body, created_at, deliveries }) => ({
    event: JSON.parse(body) as InvoiceEvent.InvoiceEvent,
    created_at,
    deliveries
  }))
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
    for (const deadline = performance.now() + 50_000; performance.now() < deadline;) {
      if (yield* check) return
      yield* TestClock.withLive(Effect.sleep(5))
    }
    assert.fail(`Waited in vain: ${what}`)
  })

// Advances the clock by one step, after which the invoice is expected in this state.
const step = (id: string, milliseconds: number, check: (row: Stored) => boolean) =>
  Effect.gen(function* () {
    yield* TestClock.adjust(milliseconds)
    yield* eventually(
      `${id} after ${milliseconds}`,
      Effect.map(read(id), (row) => !row.is_leased && check(row))
    )
    return yield* read(id)
  })

for (const database of databases) {
  const begin = Effect.andThen(fixtures.clear, TestClock.setTime(0))
  const sandbox = SandboxGateway.make(stepMs)
  const withGateway = (test: InvoiceGateway) => {
    const shared = Layer.mergeAll(
      Layer.succeed(InvoiceGateways)({ test }),
      Notifier.layer,
      TestSettings.layer({ leaseMs })
    )
    const worker = InvoiceWorker.layer.pipe(Layer.provide(InvoiceQueue.layer))
    return Layer.mergeAll(worker, Invoices.layer, SubmitInvoice.layer).pipe(Layer.provideMerge(shared))
  }

  layer(database.layer, { timeout: "120 seconds" })(`InvoiceWorker (${database.name})`, (it) => {
    const test = <R>(
      name: string,
      services: Layer.Layer<R, never, Layer.Success<typeof database.layer>>,
      body: () => Effect.Effect<void, unknown, R | SqlClient.SqlClient>
    ) =>
      it.effect(name, () =>
        Effect.andThen(begin, Effect.scoped(Effect.provide(body(), Layer.fresh(services as Layer.Layer<R>))))
      )

    test("takes an invoice to its receipt, each step at its time and none earlier", withGateway(sandbox), () =>
      Effect.gen(function* () {
        const organizationId = yield* fixtures.organization
        yield* fixtures.endpoint(organizationId)
        yield* fixtures.endpoint(organizationId, { eventTypes: ["invoice.accepted"] })
        yield* fixtures.endpoint(organizationId, { enabled: false })
        const { body, invoiceId } = yield* submit(organizationId, "accepted", "1")

        yield* TestClock.adjust(stepMs - 1)
        yield* TestClock.withLive(Effect.sleep(50))
        assert.include(yield* read(invoiceId), { status: "queued", fencing_token: 0, attempt_count: 0 })

        const submitted = yield* step(invoiceId, 1, ({ status }) => status === "submitted")
        assert.include(submitted, { attempt_count: 1, fencing_token: 1, completed_at: null })
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
          told.map(({ created_at, deliveries, event }) => [event.type, created_at.getTime(), deliveries]),
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

    test("plays a temporary failure: three attempts after one, one and two steps", withGateway(sandbox), () =>
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

    test("plays a rejection", withGateway(sandbox), () =>
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

    const asked: Array<GatewayInvoice> = []
    const answers: Array<SubmitAnswer> = []
    const scripted: InvoiceGateway = {
      ...sandbox,
      submitAfterMs: () => stepMs,
      submit: (invoice) =>
        Effect.sync(() => {
          asked.push(invoice)
          return answers.shift()!
        })
    }

    test(
      "passes the reference of an ambiguous outcome to the gateway before another submission",
      withGateway(scripted),
      () =>
        Effect.gen(function* () {
          asked.length = 0
          const reason = { code: "no_answer", message: "The answer was lost." }
          answers.push(
            { _tag: "Ambiguous", reference: "session-1", reason, retryAfterMs: 500 },
            { _tag: "Temporary", reason },
            { _tag: "Submitted", reference: "number-1", pollAfterMs: 60_000 }
          )
          const organizationId = yield* fixtures.organization
          const { invoiceId } = yield* submit(organizationId, "accepted", "1")
          const ambiguous = yield* step(invoiceId, stepMs, ({ status }) => status === "retrying")
          assert.include(ambiguous, { reference: "session-1", attempt_count: 1 })
          assert.strictEqual(ambiguous.next_attempt_at!.getTime() - ambiguous.updated_at.getTime(), 500)

          // Without a time from the gateway, polls follow the schedule of attempts: half a minute after the second.
          const second = yield* step(invoiceId, 500, (row) => row.attempt_count === 2 && row.status === "retrying")
          const wait = second.next_attempt_at!.getTime() - second.updated_at.getTime()
          assert.isAtLeast(wait, 24_000)
          assert.isAtMost(wait, 36_000)
          const submitted = yield* step(invoiceId, wait, ({ status }) => status === "submitted")
          assert.include(submitted, { reference: "number-1", attempt_count: 3, failure: null })
          assert.deepStrictEqual(
            asked.map(({ attempt, interrupted, reference }) => ({ attempt, interrupted, reference })),
            [
              { attempt: 1, interrupted: false, reference: null },
              { attempt: 2, interrupted: false, reference: "session-1" },
              { attempt: 3, interrupted: false, reference: "session-1" }
            ]
          )
        })
    )

    test("fails after the last attempt, although the gateway asks for another poll", withGateway(scripted), () =>
      Effect.gen(function* () {
        const reason = { code: "maintenance", message: "The system is closed." }
        answers.push(...Array.from({ length: 8 }, () => ({ _tag: "Temporary", reason, retryAfterMs: 1000 }) as const))
        const organizationId = yield* fixtures.organization
        const { invoiceId } = yield* submit(organizationId, "accepted", "1")
        for (let attempt = 1; attempt < 8; attempt++) {
          yield* step(invoiceId, 1000, (row) => row.attempt_count === attempt && row.status === "retrying")
        }
        const failed = yield* step(invoiceId, 1000, ({ status }) => status === "failed")
        assert.include(failed, { attempt_count: 8, next_attempt_at: null })
        assert.strictEqual(failed.failure?.code, "maintenance")
      })
    )

    const queue = Layer.merge(
      InvoiceQueue.layer,
      SubmitInvoice.layer.pipe(Layer.provide(Layer.succeed(InvoiceGateways)({ test: sandbox })))
    )

    test(
      "tells the gateway that a lease expired during a submission, and discards the write of the earlier worker",
      queue,
      () =>
        Effect.gen(function* () {
          const queue = yield* InvoiceQueue.InvoiceQueue
          const organizationId = yield* fixtures.organization
          yield* fixtures.endpoint(organizationId)
          const { invoiceId } = yield* submit(organizationId, "accepted", "1")
          yield* TestClock.adjust(stepMs)
          const [late] = (yield* queue.claim({ limit: 10, leaseMs })).invoices
          assert.include(late, {
            id: invoiceId,
            status: "submitting",
            attempt_count: 1,
            fencing_token: 1,
            interruption_count: 0
          })
          assert.deepStrictEqual((yield* queue.claim({ limit: 10, leaseMs })).invoices, [])
          yield* TestClock.adjust(leaseMs)
          assert.include(yield* queue.claim({ limit: 10, leaseMs }), { interrupted: 1 })
          assert.include(yield* read(invoiceId), { status: "retrying", attempt_count: 0, is_leased: false })
          yield* TestClock.adjust(6000)
          const [successor] = (yield* queue.claim({ limit: 10, leaseMs })).invoices
          assert.include(successor, { id: invoiceId, attempt_count: 1, fencing_token: 2, interruption_count: 1 })

          const transition = (at: number): ClaimedInvoice.InvoiceTransition => ({
            status: "submitted",
            at: new Date(at),
            emits: "invoice.submitted",
            dueAt: new Date(at + 1000),
            submittedAt: new Date(at),
            reference: `by ${at}`
          })
          assert.deepStrictEqual(yield* queue.transition([{ invoice: late!, transition: transition(1) }]), [false])
          assert.deepStrictEqual(yield* queue.transition([{ invoice: successor!, transition: transition(2) }]), [true])
          // The same statement again, as after a commit whose response was lost.
          assert.deepStrictEqual(yield* queue.transition([{ invoice: successor!, transition: transition(3) }]), [false])
          assert.include(yield* read(invoiceId), { status: "submitted", reference: "by 2", is_leased: false })
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

    test("moves many invoices in one statement, each with its own event", queue, () =>
      Effect.gen(function* () {
        const queue = yield* InvoiceQueue.InvoiceQueue
        const organizations = yield* Effect.forEach([1, 2, 3], () => fixtures.organization)
        for (const id of organizations) yield* fixtures.endpoint(id)
        for (let n = 0; n < 30; n++) yield* submit(organizations[n % 3]!, "accepted", String(n))
        yield* TestClock.adjust(stepMs)
        const { invoices } = yield* queue.claim({ limit: 50, leaseMs })
        assert.strictEqual(invoices.length, 30)
        const pending = invoices.map((invoice, n): ClaimedInvoice.PendingTransition => ({
          // The lease of every third was lost.
          invoice: n % 3 === 0 ? { ...invoice, fencing_token: invoice.fencing_token - 1 } : invoice,
          transition: {
            status: "rejected",
            at: new Date(1000 + n),
            emits: "invoice.rejected",
            dueAt: null,
            completedAt: new Date(1000 + n),
            rejection: { code: "no", message: `ąę "${n}" \\ \u0001` }
          }
        }))
        const written = yield* queue.transition(pending)
        assert.deepStrictEqual(
          written,
          invoices.map((_, n) => n % 3 !== 0)
        )
        for (const [n, { id }] of invoices.entries()) {
          const told = yield* events(id)
          assert.strictEqual(told.length, n % 3 === 0 ? 1 : 2)
          if (n % 3 === 0) continue
          const { deliveries, event } = told[1]!
          assert.strictEqual(deliveries, 1)
          assert.strictEqual(event.data.invoice.rejection?.message, `ąę "${n}" \\ \u0001`)
          assert.strictEqual(event.data.invoice.id, id)
        }
      })
    )

    test("claims the oldest first, and lets organizations take turns in a backlog", queue, () =>
      Effect.gen(function* () {
        const queue = yield* InvoiceQueue.InvoiceQueue
        const big = yield* fixtures.organization
        for (let n = 0; n < 60; n++) yield* submit(big, "accepted", String(n))
        const small = yield* Effect.forEach([1, 2, 3, 4], () => fixtures.organization)
        yield* TestClock.adjust(10)
        for (const id of small) yield* submit(id, "accepted", "1")
        yield* TestClock.adjust(stepMs)

        const served = yield* Ref.make<ReadonlyArray<string>>([])
        const claim = Effect.gen(function* () {
          const claimed = yield* queue.claim({ limit: 10, leaseMs })
          yield* Ref.update(served, (before) => [...before, ...claimed.invoices.map((one) => one.organization_id)])
          return claimed
        })
        assert.deepStrictEqual((yield* claim).nextDueAt, yield* Clock.currentTimeMillis)
        yield* claim
        const two = yield* Ref.get(served)
        assert.isTrue(small.every((id) => two.includes(id)))
        assert.isTrue(two.slice(0, 10).every((id) => id === big))
        for (let turn = 0; turn < 20; turn++) yield* claim
        assert.strictEqual((yield* Ref.get(served)).length, 64)
        assert.strictEqual((yield* claim).nextDueAt, 1010 + leaseMs)
      })
    )
  })
}
