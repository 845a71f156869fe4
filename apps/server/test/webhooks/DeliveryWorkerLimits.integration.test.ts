/** The limits of a delivery worker: on its leases, and on its slots. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import { databases } from "../support/TestDatabase.ts"
import * as Fake from "../support/FakeDispatcher.ts"
import * as fixtures from "../support/fixtures.ts"
import { count, eventually, start } from "./support/deliveryWorker.ts"

for (const database of databases) {
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
          Effect.map(DeliveryQueue.DeliveryQueue, ({ claim, complete }) => ({
            claim: (options) =>
              Effect.tap(claim(options), ({ deliveries }) => {
                if (isWaiting || deliveries.length === 0) return Effect.void
                isWaiting = true
                return Effect.sleep(claimMs)
              }),
            complete
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
  })
}
