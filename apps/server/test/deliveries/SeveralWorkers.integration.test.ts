/**
 * Workers that claim and complete deliveries of the same organizations at the same time, with the plans of the engine.
 *
 * The server is their own: a version of Postgres that fails here would end the tests beside them.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { startPostgres } from "../../../../test/support/postgres.ts"
import * as Database from "../../src/database/Database.ts"
import * as WorkerDbClient from "../../src/database/WorkerDbClient.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as TestSettings from "../support/TestSettings.ts"
import * as fixtures from "../support/fixtures.ts"

const organizations = 50
const deliveriesEach = 100
const total = organizations * deliveriesEach
const workers = 4

const options = { limit: 250, perOrganization: 32, leaseMs: 30_000 }

const database = Layer.unwrap(
  Effect.acquireRelease(
    Effect.promise(() => startPostgres()),
    (server) => Effect.promise(() => server.remove())
  ).pipe(
    Effect.tap(({ url }) => Effect.promise(() => TestDatabase.migrate(url))),
    Effect.map(({ url }) =>
      WorkerDbClient.layer.pipe(
        Layer.provide(Layer.succeed(Database.Shared)(true)),
        Layer.provide(Database.layerClient({ _tag: "Postgres", url })),
        Layer.provide(TestSettings.layer({ database: { _tag: "Postgres", url } }))
      )
    )
  )
)

const startedAt = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT pg_postmaster_start_time() AS postmaster, min(backend_start) AS writer FROM pg_stat_activity
    WHERE backend_type = 'background writer'`
)

layer(database, { timeout: "120 seconds", excludeTestServices: true })("several workers", (it) => {
  it.effect("complete each delivery once, without a failure of the database", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: organizations }), () => fixtures.backlog(deliveriesEach))
      const before = yield* startedAt
      const completed: Array<string> = []
      const work = Effect.gen(function* () {
        const { claim, complete } = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
        while (completed.length < total) {
          const { deliveries } = yield* claim(options)
          completed.push(...(yield* complete(deliveries.map((one) => fixtures.completion(one)))))
        }
      })
      yield* Effect.all(
        Array.from({ length: workers }, () => work),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(completed, total)
      assert.lengthOf(new Set(completed), total)
      // After a session has crashed, Postgres starts all its processes anew.
      assert.deepStrictEqual(yield* startedAt, before)
    })
  )
})
