/**
 * Runs random commands against the engine and compares every delivery with a model of a few lines.
 *
 * The model knows neither leases nor queues nor statements: an event is delivered to the endpoints that are enabled when
 * it happens, every attempt ends as the receiver behaves at that moment, and a lost worker changes nothing but the number
 * of interruptions. `MODEL_RUNS` sets the number of runs (more in the long tests), `MODEL_SEED` the first seed.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Attempt from "../../src/deliveries/Attempt.ts"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import type { Completion } from "../../src/deliveries/Completion.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as InvoiceWorker from "../../src/invoices/sandbox/InvoiceWorker.ts"
import * as AloneWorker from "../../src/deliveries/AloneWorker.ts"
import * as Interruptions from "../../src/deliveries/Interruptions.ts"
import * as DeliveryScheduler from "../../src/deliveries/DeliveryScheduler.ts"
import { KeyRing } from "../../src/crypto/KeyRing.ts"
import * as SubmitInvoice from "../../src/invoices/SubmitInvoice.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import { makeRandom } from "../support/Random.ts"
import * as TestSettings from "../support/TestSettings.ts"
import {
  after,
  type Behavior,
  type Endpoint,
  type Expected,
  lives,
  outcomes,
  scenarios,
  stepMs,
  retrySchedule
} from "./support/model.ts"

const runs = Number(process.env["MODEL_RUNS"] ?? 10)
const firstSeed = Number(process.env["MODEL_SEED"] ?? 1)
const commandsOfARun = 40

const leaseMs = 10_000
const perOrganization = 3
const workerCounts = [1, 2, 4, 16]
const run = Effect.fnUntraced(function* (seed: number) {
  const { chance, of } = makeRandom(seed)
  const sql = yield* SqlClient.SqlClient
  const { submit } = yield* SubmitInvoice.SubmitInvoice
  const { advanceDue } = yield* Effect.provide(InvoiceWorker.make, TestSettings.layer({ sandboxStepMs: stepMs }))
  const scheduler = yield* DeliveryScheduler.DeliveryScheduler
  const claimAlone = yield* AloneWorker.makeClaim
  // Each worker has its own place in the round.
  const queues = yield* Effect.replicateEffect(
    Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer)),
    workerCounts[seed % workerCounts.length]!
  )

  yield* fixtures.clear
  yield* TestClock.setTime(0)
  const endpoints: Array<Endpoint> = []
  const organizations: Array<Ids.OrganizationId> = []
  const expected = new Map<string, Expected>()
  const submitted: Array<{ readonly id: Ids.InvoiceId; readonly scenario: (typeof scenarios)[number] }> = []
  const late: Array<Completion> = []
  const trace: Array<string> = []
  let isPeace = false
  const lost = (probability: number): boolean => !isPeace && chance(probability)
  let behavior: Behavior = "accepts"
  let interruptions = 0
  const stopped = new Set<string>()

  const dispatcher = Fake.make(() => Effect.sync(() => outcomes[behavior]))
  const { webhooks } = TestSettings.settings()
  const attempt = yield* Effect.provide(
    Attempt.make,
    Layer.mergeAll(
      dispatcher.layer,
      Layer.succeed(KeyRing)(fixtures.keyRing),
      TestSettings.layer({ webhooks: { ...webhooks, retrySchedule } })
    )
  )

  const interrupts = ({ behavior, usable }: Endpoint): boolean => usable && behavior === "interrupts"
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
      expected.set(id, {
        endpoint: endpoint_id,
        status: "pending",
        attempts: 0,
        interruptions: 0
      })
    }
  })

  // Returns the completion, unless the worker is lost between the request and the completion.
  const attempted = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
    const model = expected.get(delivery.id)!
    assert.include(["pending", "retrying"], model.status, "only unfinished deliveries are claimed")
    const endpoint = endpointOf(delivery.endpoint_id)
    assert.strictEqual(delivery.attempt_count, model.attempts + 1)
    behavior = endpoint.behavior
    const before = dispatcher.requests.length
    const completion = yield* attempt(delivery, Infinity)
    assert.strictEqual(dispatcher.requests.length - before, endpoint.usable ? 1 : 0)
    const isInterrupted = interrupts(endpoint)
    if (isInterrupted || lost(0.3)) {
      // The completion of a lost worker comes late, or never.
      if (!isInterrupted && chance(0.8)) late.push(completion)
      model.interruptions += 1
      interruptions += 1
      return undefined
    }
    after(model, endpoint.behavior, endpoint.usable)
    return completion
  })

  const commands = {
    submit: Effect.gen(function* () {
      const scenario = of(scenarios)
      const { invoiceId } = yield* submit(
        fixtures.submission({
          organizationId: of(organizations),
          scenario,
          idempotencyKey: String(submitted.length)
        })
      )
      submitted.push({ id: invoiceId, scenario })
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

    change: Effect.sync(() => void (of(endpoints).behavior = of(Object.keys(outcomes) as Array<Behavior>))),

    wait: Effect.suspend(() => TestClock.adjust(of([100, 500, 1000, 3000, leaseMs, leaseMs]))),

    processInvoices: Effect.andThen(advanceDue, learn),

    deliver: Effect.gen(function* () {
      yield* scheduler.promoteDue
      for (let rounds = of([1, 1, 2, 3]); rounds > 0; rounds--) {
        const { claim, complete } = of(queues)
        const { deliveries } = yield* claim({ limit: of([1, 3, 50]), slow: of([0, 1, 50]), perOrganization, leaseMs })
        const completions: Array<Completion> = []
        for (const delivery of deliveries) {
          const row = yield* fixtures.readDelivery(delivery.id)
          assert.isBelow(row.interruption_count, Interruptions.aloneAfter)
          const completion = yield* attempted(delivery)
          if (completion !== undefined) completions.push(completion)
        }
        if (completions.length > 0) assert.strictEqual((yield* complete(completions)).length, completions.length)
      }
    }),

    deliverAlone: Effect.gen(function* () {
      const delivery = yield* claimAlone({ perOrganization, leaseMs })
      if (delivery === undefined) return
      const row = yield* fixtures.readDelivery(delivery.id)
      assert.isAtLeast(row.interruption_count, Interruptions.aloneAfter)
      const completion = yield* attempted(delivery)
      if (completion !== undefined) yield* of(queues).complete([completion])
    }),

    comeBackLate: Effect.gen(function* () {
      if (late.length === 0) return
      const completion = of(late)
      late.splice(late.indexOf(completion), 1)
      const before = yield* fixtures.readDelivery(completion.id)
      const written = yield* of(queues).complete([completion])
      const model = expected.get(completion.id)!
      // It holds the delivery only until its lease expires and another worker rescues it.
      const holds = before.fencing_token === completion.fencing_token && before.lease_expires_at !== null
      assert.strictEqual(written.length, holds ? 1 : 0)
      if (holds) {
        model.interruptions -= 1
        model.status = completion.status
        model.attempts = completion.attempt_count
      }
    })
  }

  const check = Effect.gen(function* () {
    const rows = yield* sql<fixtures.DeliveryRow>`SELECT * FROM deliveries`
    assert.strictEqual(rows.length, expected.size)
    for (const row of rows) {
      const model = expected.get(row.id)!
      // The last interruption ends a delivery.
      if (row.interruption_count === Interruptions.endsAfter) {
        assert.strictEqual(model.interruptions, Interruptions.endsAfter)
        model.status = "failed"
        stopped.add(row.id)
      }
      // A delivery whose first attempts were interrupted waits for its retry.
      const isInterrupted = row.status === "retrying" && row.interruption_count > 0
      if (row.status === "delivering" || isInterrupted) assert.include(["pending", "retrying"], model.status)
      else assert.strictEqual(row.status, model.status)
      assert.isAtMost(row.interruption_count, model.interruptions)
      assert.strictEqual(row.attempt_count, model.attempts)
    }
    for (const id of organizations) {
      const { actual, counted } = yield* fixtures.inFlight(id)
      assert.deepStrictEqual(counted, actual)
      assert.isAtMost(
        Object.values(counted).reduce((sum, n) => sum + n, 0),
        perOrganization
      )
    }
  })

  for (let n = 0; n < 2; n++) {
    const organization = yield* fixtures.organization
    organizations.push(organization)
    for (let m = 0; m <= n; m++) {
      const id = yield* fixtures.endpoint(organization)
      endpoints.push({ id, organization, behavior: "accepts", usable: true, deleted: false })
    }
  }

  const commandNames = Object.keys(commands) as Array<keyof typeof commands>
  // Commands that make progress are more frequent than faults.
  const often = [
    ...commandNames,
    "submit",
    "wait",
    "processInvoices",
    "deliver",
    "deliver",
    "deliver",
    "comeBackLate"
  ] as const
  yield* Effect.gen(function* () {
    for (let n = 0; n < commandsOfARun; n++) {
      const name = of(often)
      trace.push(name)
      yield* commands[name]
      yield* check
    }
    // No worker is lost any more, and everything must finish.
    trace.push("peace")
    isPeace = true
    for (let round = 0; round < 200; round++) {
      yield* TestClock.adjust(leaseMs)
      yield* commands.processInvoices
      yield* commands.deliver
      yield* commands.deliverAlone
      late.length = 0
      const [left] = yield* sql<{ readonly n: number }>`
        SELECT ((SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL)
              + (SELECT count(*) FROM invoices WHERE due_at IS NOT NULL))::int AS n
      `
      if (left!.n === 0) break
    }
    yield* check
    for (const { status } of expected.values()) assert.include(["succeeded", "failed", "endpoint_disabled"], status)
    for (const [id, { interruptions }] of expected) {
      assert.strictEqual((yield* fixtures.readDelivery(id as Ids.DeliveryId)).interruption_count, interruptions)
    }
    for (const { id, scenario } of submitted) {
      const rows = yield* sql<{ readonly type: string }>`SELECT type FROM events WHERE invoice_id = ${id} ORDER BY id`
      const types = rows.map(({ type }) => type)
      assert.deepStrictEqual(types, [...lives[scenario]], scenario)
    }
  }).pipe(
    Effect.catchDefect((defect) =>
      Effect.die(new Error(`MODEL_SEED=${seed} after ${trace.join(", ")}: ${String(defect)}`, { cause: defect }))
    )
  )
  return { deliveries: expected.size, interruptions, stopped: stopped.size }
})

describe("Model", () => {
  it.effect(
    `agrees with the engine about every delivery, in ${runs} random runs`,
    () =>
      Effect.gen(function* () {
        let deliveries = 0
        let interruptions = 0
        let stopped = 0
        for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
          const seen = yield* run(seed)
          deliveries += seen.deliveries
          interruptions += seen.interruptions
          stopped += seen.stopped
        }
        assert.isAbove(deliveries, runs * 10)
        assert.isAbove(interruptions, runs)
        assert.isAbove(stopped, runs / 20)
      }).pipe(
        Effect.provide(
          Layer.merge(SubmitInvoice.layer, DeliveryScheduler.layer).pipe(
            Layer.provide(
              TestSettings.layer({
                sandboxStepMs: stepMs,
                webhooks: { ...TestSettings.settings().webhooks, retrySchedule }
              })
            ),
            Layer.provideMerge(layerPostgres)
          )
        )
      ),
    { timeout: 180_000 + runs * 3000 }
  )
})
