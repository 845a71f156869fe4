/** Claims beside locks of other workers. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"

const options = { limit: 100, perOrganization: 10, leaseMs: 30_000 }

const queue = Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))

/** Locks the row of an organization. The result releases it, after `last` in the same transaction. */
const holdRow = Effect.fnUntraced(function* (id: Ids.OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<Effect.Effect<unknown, unknown>>()
  const holder = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT FROM organization_concurrency WHERE organization_id = ${id} FOR UPDATE`
        yield* Deferred.succeed(held, undefined)
        yield* Effect.flatten(Deferred.await(letGo))
      })
    )
  )
  yield* Deferred.await(held)
  return (last: Effect.Effect<unknown, unknown> = Effect.void) =>
    Effect.andThen(Deferred.succeed(letGo, last), Fiber.join(holder))
})

layer(layerPostgres, { timeout: "120 seconds" })("DeliveryQueue beside other workers", (it) => {
  it.effect("claim: skips a locked row, reports that there is more, and claims of it next", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const [held, free] = [yield* fixtures.backlog(30), yield* fixtures.backlog(30)]
      const { claim } = yield* queue
      const ids = ({ deliveries }: DeliveryQueue.DeliveryClaim) => new Set(deliveries.map((one) => one.organization_id))
      assert.deepStrictEqual(ids(yield* claim({ ...options, limit: 2 })), new Set([held.id, free.id]))
      const letGo = yield* holdRow(held.id)
      const passing = yield* claim({ ...options })
      assert.deepStrictEqual([ids(passing), passing.more], [new Set([free.id]), true])
      yield* letGo()
      assert.deepStrictEqual(ids(yield* claim({ ...options })), new Set([held.id]))
    })
  )
})
