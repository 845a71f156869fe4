/** The limits of a delivery worker: on its leases, and on its slots. */
import { assert, layer } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import { database } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { count, eventually, pass, start } from "./support/deliveryWorker.ts"

const hanging = 40

layer(database.layer, { timeout: "120 seconds" })(`Limits of DeliveryWorker (${database.name})`, (it) => {
  it.effect("sends nothing after a claim that took so long that the lease could expire, and then delivers once", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      yield* fixtures.backlog(3)
      const sql = yield* SqlClient.SqlClient
      // A request takes up to 10 s. A claim times out after 35 s.
      const leaseMs = 40_000
      const claimMs = leaseMs - 10_000
      let isWaiting = false
      const slow = Layer.effect(
        DeliveryQueue.DeliveryQueue,
        Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete, completeUnlocked }) => ({
          claim: (options) =>
            Effect.tap(claim(options), ({ deliveries }) => {
              if (isWaiting || deliveries.length === 0) return Effect.void
              isWaiting = true
              return Effect.sleep(claimMs)
            }),
          complete,
          completeUnlocked
        }))
      ).pipe(Layer.provide(DeliveryQueue.layer))
      const worker = yield* start(() => Effect.succeed(Fake.delivered), { leaseMs }, slow)
      yield* eventually(
        "the deliveries are claimed",
        10,
        Effect.sync(() => isWaiting)
      )
      yield* TestClock.adjust(claimMs)
      yield* eventually(
        "the deliveries are postponed",
        2000,
        Effect.map(count("status = 'retrying' AND attempt_count = 0 AND last_attempted_at IS NULL"), (n) => n === 3)
      )
      assert.deepStrictEqual(worker.requests, [])
      yield* eventually(
        "the deliveries succeed",
        8000,
        Effect.map(count("status = 'succeeded'"), (n) => n === 3)
      )
      assert.strictEqual(worker.requests.length, 3)
      const rows = yield* sql`SELECT attempt_count, interruption_count FROM deliveries`
      assert.deepStrictEqual(
        rows,
        [1, 2, 3].map(() => ({ attempt_count: 1, interruption_count: 0 }))
      )
      yield* worker.stop
    })
  )

  it.effect("delivers beside organizations whose receivers hang, which take half of the slots, and one each", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      for (let n = 0; n < hanging; n++) {
        const id = yield* fixtures.organization
        const endpoint = yield* fixtures.endpoint(id, { url: `https://slow.example.com/${n}` })
        yield* fixtures.deliveries(id, endpoint, 12)
      }
      const isSlow = (request: { readonly url: string }) => request.url.includes("slow")
      const isKnown = sql<{
        readonly n: number
      }>`SELECT count(*)::int AS n FROM webhook_endpoints WHERE pace = 'slow'`
      const { webhooks } = TestSettings.settings()
      const hangs = Effect.as(Effect.sleep(webhooks.timeoutMs), Fake.failed("timeout"))
      const worker = yield* start((request) => (isSlow(request) ? hangs : Effect.succeed(Fake.delivered)), {
        workerConcurrency: 60,
        leaseMs: 300_000
      })
      yield* eventually(
        "every receiver that hangs is known",
        300_000,
        Effect.map(isKnown, ([row]) => row!.n === hanging),
        100
      )
      // The attempts that began before that end, and are completed.
      yield* pass(webhooks.timeoutMs)
      yield* eventually(
        "slow endpoints take half of the slots",
        10_000,
        Effect.map(count("lease_expires_at IS NOT NULL"), (leased) => leased <= 30)
      )

      const victim = yield* fixtures.organization
      const endpoint = yield* fixtures.endpoint(victim)
      yield* fixtures.deliveries(victim, endpoint, 40)
      yield* worker.wake
      yield* eventually(
        "all deliveries of the victim succeed",
        2000,
        Effect.map(count(`status = 'succeeded' AND organization_id = '${victim}'`), (n) => n === 40)
      )
      const most = yield* sql<{ readonly n: number }>`
          SELECT count(*)::int AS n FROM deliveries WHERE lease_expires_at IS NOT NULL GROUP BY endpoint_id
        `
      assert.deepStrictEqual([...new Set(most.map(({ n }) => n))], [1])
    })
  )

  for (const concurrency of [1, 10, 12]) {
    it.effect(`one organization fills the slots of a worker that has ${concurrency}`, () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        yield* fixtures.backlog(50)
        const worker = yield* start(() => Effect.never, { workerConcurrency: concurrency })
        const expected = Math.min(10, concurrency)
        yield* eventually(
          "the slots are taken",
          900,
          Effect.sync(() => worker.requests.length >= expected)
        )
        yield* pass(100)
        assert.strictEqual(worker.requests.length, expected)
      })
    )
  }

  it.effect("claims for an organization that found no slot as soon as another one has freed some", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      yield* Effect.forEach(["a", "b", "c", "d"], (name) =>
        Effect.gen(function* () {
          const id = yield* fixtures.organization
          const endpoint = yield* fixtures.endpoint(id, { url: `https://${name}.example.com/` })
          yield* fixtures.deliveries(id, endpoint, 3)
        })
      )
      const free = yield* Latch.make(false)
      const worker = yield* start(
        ({ url }) => (url.includes("a.example.com") ? Effect.as(free.await, Fake.delivered) : Effect.never),
        { workerConcurrency: 12, organizationConcurrency: 3 }
      )
      const sent = (name: string) => worker.requests.filter(({ url }) => url.includes(`//${name}.`)).length
      yield* eventually(
        "the slots are taken",
        900,
        Effect.sync(() => worker.requests.length === 12)
      )
      const late = yield* fixtures.organization
      yield* fixtures.deliveries(late, yield* fixtures.endpoint(late, { url: "https://late.example.com/" }), 10)
      yield* worker.wake
      yield* pass(100)
      assert.strictEqual(sent("late"), 0)
      yield* free.open
      // Less than the poll interval.
      yield* eventually(
        "the late organization has all its slots",
        300,
        Effect.sync(() => sent("late") === 3)
      )
    })
  )
})
