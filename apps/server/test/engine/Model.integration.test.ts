/**
 * Random things happen to the engine, and a model of a few lines says what must have become of every delivery.
 *
 * The model knows neither leases nor queues nor statements: an event is delivered to the endpoints that were enabled when
 * it happened, every attempt ends as the receiver says at that moment, and a worker that vanishes changes nothing but the
 * count of attempts. `MODEL_RUNS` sets how many runs there are, `MODEL_SEED` where they begin.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import type { Outcome } from "@govoice/dispatcher"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Attempt from "../../src/engine/Attempt.ts"
import * as DeliveryQueue from "../../src/engine/DeliveryQueue.ts"
import * as InvoiceMoves from "../../src/engine/InvoiceMoves.ts"
import * as InvoiceQueue from "../../src/engine/InvoiceQueue.ts"
import * as Timers from "../../src/engine/Timers.ts"
import { type InvoiceGateway, InvoiceGateways } from "../../src/gateway/InvoiceGateway.ts"
import * as SandboxGateway from "../../src/gateway/sandbox/SandboxGateway.ts"
import { KeyRing } from "../../src/security/KeyRing.ts"
import * as Invoices from "../../src/store/Invoices.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as Fake from "./support/FakeDispatcher.ts"
import * as Plant from "./support/Plant.ts"
import { makeRandom } from "./support/Random.ts"
import * as TestSettings from "./support/TestSettings.ts"

const runs = Number(process.env["MODEL_RUNS"] ?? 60)
const firstSeed = Number(process.env["MODEL_SEED"] ?? 1)
const commandsOfARun = 40

const leaseMs = 10_000
const perOrganization = 3
const waits = [1000, 2000]
const maxAttempts = waits.length + 1
const stepMs = 500

const scenarios = ["accepted", "rejected", "temporary_failure", "delayed"] as const

const lives = {
  accepted: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"],
  delayed: ["invoice.received", "invoice.submitted", "invoice.accepted", "invoice.upo_available"],
  rejected: ["invoice.received", "invoice.submitted", "invoice.rejected"],
  temporary_failure: ["invoice.received", "invoice.failed"]
} as const

type Behaviour = "accepts" | "fails" | "refuses" | "hangs" | "unsafe"

const outcomes: Readonly<Record<Behaviour, Outcome>> = {
  accepts: Fake.delivered,
  fails: Fake.refused(503),
  refuses: Fake.refused(404),
  hangs: Fake.failed("timeout"),
  unsafe: Fake.blocked
}

/** What the model knows of a delivery. */
interface Expected {
  readonly endpoint: Ids.EndpointId
  status: string
  attempts: number
  /** How many workers vanished with it. */
  vanished: number
}

interface Endpoint {
  readonly id: Ids.EndpointId
  readonly organization: Ids.OrganizationId
  behaviour: Behaviour
  usable: boolean
  deleted: boolean
}

/** The model: what an attempt that ends makes of a delivery. */
const after = (expected: Expected, behaviour: Behaviour, usable: boolean): void => {
  if (!usable) return void (expected.status = "endpoint_disabled")
  if (behaviour === "unsafe") return void (expected.status = "failed")
  expected.attempts += 1
  if (behaviour === "accepts") expected.status = "succeeded"
  else if (behaviour === "refuses") expected.status = "failed"
  else expected.status = expected.attempts >= maxAttempts ? "failed" : "retrying"
}

const run = Effect.fnUntraced(function* (seed: number) {
  const { chance, of } = makeRandom(seed)
  const sql = yield* SqlClient.SqlClient
  const invoices = yield* Invoices.Invoices
  const invoiceQueue = yield* InvoiceQueue.InvoiceQueue
  const timers = yield* Timers.Timers
  const gateway: InvoiceGateway = SandboxGateway.make(stepMs)
  // Two workers, each with its own place in the round.
  const queues = yield* Effect.forEach([1, 2], () =>
    Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
  )

  yield* Plant.clear
  yield* TestClock.setTime(0)
  const endpoints: Array<Endpoint> = []
  const organizations: Array<Ids.OrganizationId> = []
  const expected = new Map<string, Expected>()
  const submitted: Array<{ readonly id: Ids.InvoiceId; readonly scenario: (typeof scenarios)[number]; lost: number }> =
    []
  const late: Array<DeliveryQueue.Settlement> = []
  const trace: Array<string> = []
  let behaviour: Behaviour = "accepts"

  const dispatcher = Fake.make(() => Effect.sync(() => outcomes[behaviour]))
  const { webhooks } = TestSettings.settings()
  const attempt = yield* Effect.provide(
    Attempt.make,
    Layer.mergeAll(
      dispatcher.layer,
      Layer.succeed(KeyRing)(Plant.keyRing),
      TestSettings.layer({ webhooks: { ...webhooks, waits } })
    )
  )

  const endpointOf = (id: string) => endpoints.find((one) => one.id === id)!

  // The model learns of new deliveries by the rule: one for each endpoint that was enabled at the time.
  const learn = Effect.gen(function* () {
    const rows = yield* sql<{ readonly id: string; readonly endpoint_id: Ids.EndpointId; readonly event_id: string }>`
      SELECT id, endpoint_id, event_id FROM deliveries
    `
    const fresh = rows.filter(({ id }) => !expected.has(id))
    const events = new Set(fresh.map(({ event_id }) => event_id))
    for (const event of events) {
      const [row] = yield* sql<{
        readonly organization_id: string
      }>`SELECT organization_id FROM events WHERE id = ${event}`
      assert.sameMembers(
        fresh.filter(({ event_id }) => event_id === event).map(({ endpoint_id }) => endpoint_id),
        endpoints.filter((one) => one.organization === row!.organization_id && one.usable).map(({ id }) => id)
      )
    }
    for (const { endpoint_id, id } of fresh) {
      expected.set(id, { endpoint: endpoint_id, status: "pending", attempts: 0, vanished: 0 })
    }
  })

  const commands = {
    submit: Effect.gen(function* () {
      const scenario = of(scenarios)
      const { invoiceId } = yield* invoices.submit({
        organizationId: of(organizations),
        mode: "test",
        invoiceXml: "<Faktura/>",
        metadata: {},
        scenario,
        idempotencyKey: String(submitted.length)
      })
      submitted.push({ id: invoiceId, scenario, lost: 0 })
      yield* learn
    }),

    toggle: Effect.gen(function* () {
      const one = of(endpoints)
      if (one.deleted) return
      one.usable = !one.usable
      yield* sql`UPDATE webhook_endpoints SET enabled = ${one.usable} WHERE id = ${one.id}`
    }),

    remove: Effect.gen(function* () {
      const one = of(endpoints)
      if (!chance(0.2)) return
      one.deleted = true
      one.usable = false
      yield* sql`UPDATE webhook_endpoints SET deleted_at = updated_at WHERE id = ${one.id}`
    }),

    change: Effect.sync(() => void (of(endpoints).behaviour = of(Object.keys(outcomes) as Array<Behaviour>))),

    wait: Effect.suspend(() => TestClock.adjust(of([100, 500, 1000, 3000, leaseMs, leaseMs]))),

    moveInvoices: Effect.gen(function* () {
      const { invoices: claimed } = yield* invoiceQueue.claim({ limit: of([1, 5, 20]), leaseMs })
      const moving: Array<InvoiceQueue.Moving> = []
      for (const invoice of claimed) {
        if (chance(0.1)) {
          // The worker vanished. A play of attempts goes on with the next.
          submitted.find(({ id }) => id === invoice.id)!.lost += 1
          continue
        }
        const told = InvoiceMoves.toGatewayInvoice(invoice)
        const moment = { now: yield* Clock.currentTimeMillis, random: 0.5 }
        const move =
          invoice.status === "submitted"
            ? InvoiceMoves.afterPoll(invoice, yield* gateway.poll(told), moment)
            : invoice.status === "accepted"
              ? InvoiceMoves.afterReceipt(invoice, yield* gateway.receipt(told), moment)
              : InvoiceMoves.afterSubmission(invoice, yield* gateway.submit(told), moment)
        moving.push({ invoice, move })
      }
      if (moving.length > 0) yield* invoiceQueue.move(moving)
      yield* learn
    }),

    deliver: Effect.gen(function* () {
      yield* timers.elapse
      let settlements: Array<DeliveryQueue.Settlement> = []
      // What has ended is settled by the next claim, or alone when there is none.
      for (let rounds = of([1, 1, 2, 3]); rounds > 0; rounds--) {
        const { deliveries, settled } = yield* of(queues).claim({
          limit: of([1, 3, 50]),
          perOrganization,
          leaseMs,
          settlements
        })
        assert.strictEqual(settled.length, settlements.length)
        settlements = []
        for (const delivery of deliveries) {
          const model = expected.get(delivery.id)!
          assert.include(["pending", "retrying"], model.status, "only what is unfinished is claimed")
          const endpoint = endpointOf(delivery.endpoint_id)
          // A worker that was lost counts as an attempt: nobody knows what it sent.
          assert.strictEqual(delivery.attempt_count, model.attempts + 1)
          behaviour = endpoint.behaviour
          const before = dispatcher.requests.length
          const settlement = yield* attempt(delivery)
          const exhausted = delivery.taken_over && model.attempts >= maxAttempts
          assert.strictEqual(dispatcher.requests.length - before, endpoint.usable && !exhausted ? 1 : 0)
          if (chance(0.3)) {
            // It vanishes here, after sending and before writing. What it had to say comes late, or never.
            if (chance(0.8)) late.push(settlement)
            model.attempts += 1
            model.vanished += 1
            continue
          }
          if (exhausted) model.status = "failed"
          else after(model, endpoint.behaviour, endpoint.usable)
          settlements.push(settlement)
        }
      }
      if (settlements.length > 0) {
        const settled = yield* of(queues).settle(settlements)
        assert.strictEqual(settled.length, settlements.length)
      }
    }),

    comeBackLate: Effect.gen(function* () {
      if (late.length === 0) return
      const settlement = of(late)
      late.splice(late.indexOf(settlement), 1)
      const before = yield* Plant.readDelivery(settlement.id)
      const written = yield* of(queues).settle([settlement])
      const model = expected.get(settlement.id)!
      // It still holds the delivery only while its lease has not been taken back.
      const holds = before.claims === settlement.claims && before.leased_until !== null
      assert.strictEqual(written.length, holds ? 1 : 0)
      if (holds) {
        model.status = settlement.status
        model.attempts = settlement.attempt_count
      }
    })
  }

  const check = Effect.gen(function* () {
    const rows = yield* sql<Plant.DeliveryRow>`SELECT * FROM deliveries`
    assert.strictEqual(rows.length, expected.size)
    for (const row of rows) {
      const model = expected.get(row.id)!
      if (row.status === "delivering") assert.include(["pending", "retrying"], model.status)
      else assert.strictEqual(row.status, model.status)
      assert.strictEqual(row.attempt_count, model.attempts)
    }
    for (const id of organizations) {
      const { actual, counted } = yield* Plant.inFlight(id)
      assert.deepStrictEqual(counted, actual)
      assert.isAtMost(
        Object.values(counted).reduce((sum, n) => sum + n, 0),
        perOrganization
      )
    }
  })

  for (let n = 0; n < 2; n++) {
    const organization = yield* Plant.organization
    organizations.push(organization)
    for (let m = 0; m <= n; m++) {
      const id = yield* Plant.endpoint(organization)
      endpoints.push({ id, organization, behaviour: "accepts", usable: true, deleted: false })
    }
  }

  const names = Object.keys(commands) as Array<keyof typeof commands>
  // What moves the world on happens more often than what stirs it.
  const often = [...names, "submit", "wait", "moveInvoices", "deliver", "deliver", "deliver", "comeBackLate"] as const
  yield* Effect.gen(function* () {
    for (let n = 0; n < commandsOfARun; n++) {
      const name = of(often)
      trace.push(name)
      yield* commands[name]
      yield* check
    }
    // Peace: nobody vanishes any more, and everything has to come to its end.
    trace.push("peace")
    for (let round = 0; round < 200; round++) {
      yield* TestClock.adjust(leaseMs)
      yield* commands.moveInvoices
      yield* commands.deliver
      late.length = 0
      const [left] = yield* sql<{ readonly n: number }>`
        SELECT ((SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL)
              + (SELECT count(*) FROM invoices WHERE due_at IS NOT NULL))::int AS n
      `
      if (left!.n === 0) break
    }
    yield* check
    for (const { status } of expected.values()) assert.include(["succeeded", "failed", "endpoint_disabled"], status)
    for (const { id, lost, scenario } of submitted) {
      const rows = yield* sql<{ readonly type: string }>`SELECT type FROM events WHERE invoice_id = ${id} ORDER BY id`
      const types = rows.map(({ type }) => type)
      assert.deepStrictEqual(types, [...lives[scenario]], `${scenario}, lost ${lost} times`)
    }
  }).pipe(
    Effect.catchDefect((defect) =>
      Effect.die(new Error(`MODEL_SEED=${seed} after ${trace.join(", ")}: ${String(defect)}`, { cause: defect }))
    )
  )
  return { deliveries: expected.size, vanished: [...expected.values()].reduce((sum, one) => sum + one.vanished, 0) }
})

describe("Model", () => {
  it.effect(
    `agrees with the engine about every delivery, in ${runs} random runs`,
    () =>
      Effect.gen(function* () {
        let deliveries = 0
        let vanished = 0
        for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
          const seen = yield* run(seed)
          deliveries += seen.deliveries
          vanished += seen.vanished
        }
        assert.isAbove(deliveries, runs * 10)
        assert.isAbove(vanished, runs)
      }).pipe(
        Effect.provide(
          Layer.mergeAll(Invoices.layer, InvoiceQueue.layer, Timers.layer).pipe(
            Layer.provide(Layer.succeed(InvoiceGateways)({ test: SandboxGateway.make(stepMs), live: undefined })),
            Layer.provideMerge(layerPostgres)
          )
        )
      ),
    { timeout: 60_000 + runs * 3000 }
  )
})
