/**
 * Runs random commands against the engine and compares every delivery with a model of a few lines.
 *
 * The model knows neither leases nor queues nor statements: an event is delivered to the endpoints that are enabled when
 * it happens, every attempt ends as the receiver behaves at that moment, and a lost worker changes nothing but the number
 * of interruptions. `MODEL_RUNS` sets the number of runs (more in the long tests), `MODEL_SEED` the first seed.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Attempt from "../../src/webhooks/Attempt.ts"
import type { ClaimedDelivery } from "../../src/webhooks/ClaimedDelivery.ts"
import type { Completion } from "../../src/webhooks/Completion.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import * as InvoiceTransitions from "../../src/invoices/sandbox/InvoiceTransitions.ts"
import type { PendingTransition } from "../../src/invoices/ClaimedInvoice.ts"
import * as InvoiceQueue from "../../src/invoices/sandbox/InvoiceQueue.ts"
import * as QuarantineQueue from "../../src/webhooks/QuarantineQueue.ts"
import * as QuarantineWorker from "../../src/webhooks/QuarantineWorker.ts"
import * as Interruptions from "../../src/jobs/Interruptions.ts"
import * as WorkerGroup from "../../src/jobs/WorkerGroup.ts"
import * as DeliveryScheduler from "../../src/webhooks/DeliveryScheduler.ts"
import { type InvoiceGateway, InvoiceGateways } from "../../src/invoices/sandbox/gateway/InvoiceGateway.ts"
import * as SandboxGateway from "../../src/invoices/sandbox/gateway/SandboxGateway.ts"
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
  const invoiceQueue = yield* InvoiceQueue.InvoiceQueue
  const scheduler = yield* DeliveryScheduler.DeliveryScheduler
  const quarantine = yield* QuarantineQueue.QuarantineQueue
  const gateway: InvoiceGateway = SandboxGateway.make(stepMs)
  // Each worker has its own place in the round and its own partitions. It claims from these, or from all.
  const names = Array.from({ length: workerCounts[seed % workerCounts.length]! }, (_, n) => `worker${n}`)
  const queues = yield* Effect.forEach(names, (self) =>
    Effect.map(Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer)), (queue) => {
      const others = names.filter((name) => name !== self)
      const group = others.reduce((known, other) => WorkerGroup.seen(known, other, 0), WorkerGroup.alone(self))
      return { ...queue, own: WorkerGroup.ownPartitions(group, 0) }
    })
  )

  yield* fixtures.clear
  yield* TestClock.setTime(0)
  const endpoints: Array<Endpoint> = []
  const organizations: Array<Ids.OrganizationId> = []
  const expected = new Map<string, Expected>()
  const submitted: Array<{ readonly id: Ids.InvoiceId; readonly scenario: (typeof scenarios)[number]; lost: number }> =
    []
  const late: Array<Completion> = []
  const trace: Array<string> = []
  let isPeace = false
  const lost = (probability: number): boolean => !isPeace && chance(probability)
  let behavior: Behavior = "accepts"
  let interruptions = 0

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
        interruptions: 0,
        quarantineInterruptions: 0
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

    change: Effect.sync(() => void (of(endpoints).behavior = of(Object.keys(outcomes) as Array<Behavior>))),

    wait: Effect.suspend(() => TestClock.adjust(of([100, 500, 1000, 3000, leaseMs, leaseMs]))),

    processInvoices: Effect.gen(function* () {
      const options = { limit: of([1, 5, 20]), leaseMs }
      const { invoices: due } = yield* invoiceQueue.claim(options)
      for (const one of due) assert.isBelow(one.interruption_count, Interruptions.quarantineAfter)
      const quarantined = yield* invoiceQueue.claimQuarantined(options)
      for (const one of quarantined) assert.isAtLeast(one.interruption_count, Interruptions.quarantineAfter)
      const claimed = [...due, ...quarantined]
      const pending: Array<PendingTransition> = []
      for (const invoice of claimed) {
        if (lost(0.1)) {
          // The worker is lost. The interrupted attempt is made again.
          submitted.find(({ id }) => id === invoice.id)!.lost += 1
          continue
        }
        const request = InvoiceTransitions.toGatewayInvoice(invoice)
        const context = { now: yield* Clock.currentTimeMillis, random: 0.5 }
        const transition =
          invoice.status === "submitted"
            ? InvoiceTransitions.afterPoll(invoice, yield* gateway.poll(request), context)
            : invoice.status === "accepted"
              ? InvoiceTransitions.afterReceipt(invoice, yield* gateway.receipt(request), context)
              : InvoiceTransitions.afterSubmission(invoice, yield* gateway.submit(request), context)
        pending.push({ invoice, transition })
      }
      if (pending.length > 0) yield* invoiceQueue.transition(pending)
      yield* learn
    }),

    deliver: Effect.gen(function* () {
      yield* scheduler.promoteDue
      let completions: Array<Completion> = []
      // Completions are written by the next claim, or alone when there is none.
      for (let rounds = of([1, 1, 2, 3]); rounds > 0; rounds--) {
        const { claim, own } = of(queues)
        const partitions = chance(0.5) ? own : undefined
        const { completed, deliveries } = yield* claim({
          partitions,
          limit: of([1, 3, 50]),
          perOrganization,
          leaseMs,
          completions
        })
        assert.strictEqual(completed.length, completions.length)
        completions = []
        for (const delivery of deliveries) {
          if (partitions !== undefined) assert.include(partitions, WorkerGroup.partitionOf(delivery.organization_id))
          const row = yield* fixtures.readDelivery(delivery.id)
          assert.isBelow(row.interruption_count, Interruptions.quarantineAfter)
          const completion = yield* attempted(delivery)
          if (completion !== undefined) completions.push(completion)
        }
      }
      if (completions.length > 0) {
        const completed = yield* of(queues).complete(completions)
        assert.strictEqual(completed.length, completions.length)
      }
    }),

    deliverQuarantined: Effect.gen(function* () {
      const delivery = yield* quarantine.claim({ perOrganization, leaseMs })
      if (delivery === undefined) return
      const model = expected.get(delivery.id)!
      assert.isAtLeast(delivery.interruption_count, Interruptions.quarantineAfter)
      assert.strictEqual(delivery.quarantine_interruption_count, model.quarantineInterruptions)
      if (!interrupts(endpointOf(delivery.endpoint_id))) {
        const completion = yield* attempted(delivery)
        if (completion !== undefined) yield* of(queues).complete([completion])
        return
      }
      // The attempt ended the quarantine process.
      model.interruptions += 1
      model.quarantineInterruptions += 1
      model.status = model.quarantineInterruptions === Interruptions.maxInQuarantine ? "failed" : "retrying"
      const now = yield* Clock.currentTimeMillis
      yield* of(queues).complete([QuarantineWorker.afterInterruption(delivery, { now, random: 0.5, retrySchedule })])
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
      // A delivery whose first attempts were interrupted retrySchedule for its retry.
      const isInterrupted = row.status === "retrying" && row.interruption_count > 0
      if (row.status === "delivering" || isInterrupted) assert.include(["pending", "retrying"], model.status)
      else assert.strictEqual(row.status, model.status)
      assert.isAtMost(row.interruption_count, model.interruptions)
      assert.strictEqual(row.quarantine_interruption_count, model.quarantineInterruptions)
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
      yield* commands.deliverQuarantined
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
  const sum = (field: (one: Expected) => number) => [...expected.values()].reduce((total, one) => total + field(one), 0)
  return {
    deliveries: expected.size,
    interruptions,
    quarantineInterruptions: sum((one) => one.quarantineInterruptions)
  }
})

describe("Model", () => {
  it.effect(
    `agrees with the engine about every delivery, in ${runs} random runs`,
    () =>
      Effect.gen(function* () {
        let deliveries = 0
        let interruptions = 0
        let quarantineInterruptions = 0
        for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
          const seen = yield* run(seed)
          deliveries += seen.deliveries
          interruptions += seen.interruptions
          quarantineInterruptions += seen.quarantineInterruptions
        }
        assert.isAbove(deliveries, runs * 10)
        assert.isAbove(interruptions, runs)
        assert.isAbove(quarantineInterruptions, runs / 20)
      }).pipe(
        Effect.provide(
          Layer.mergeAll(SubmitInvoice.layer, InvoiceQueue.layer, DeliveryScheduler.layer, QuarantineQueue.layer).pipe(
            Layer.provide(TestSettings.layer({ webhooks: { ...TestSettings.settings().webhooks, retrySchedule } })),
            Layer.provide(Layer.succeed(InvoiceGateways)({ test: SandboxGateway.make(stepMs) })),
            Layer.provideMerge(layerPostgres)
          )
        )
      ),
    { timeout: 180_000 + runs * 3000 }
  )
})
