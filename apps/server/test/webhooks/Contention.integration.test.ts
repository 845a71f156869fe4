/**
 * Claims beside locks and claims of other workers. A transaction locks a row that the completions of a claim need, so that
 * the claim has begun and waits until the test has done something else.
 */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
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

const waitsForLock = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (let looks = 0; looks < 5000; looks++) {
    const waiting = yield* sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    `
    if (waiting.length > 0) return
  }
  assert.fail("No statement waits for a lock")
})

layer(layerPostgres, { timeout: "120 seconds" })("DeliveryQueue beside other workers", (it) => {
  it.effect("claim: skips a locked row, reports that there is more, and claims of it next", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const [held, free] = [yield* fixtures.backlog(30), yield* fixtures.backlog(30)]
      const { claim } = yield* queue
      const ids = ({ deliveries }: DeliveryQueue.DeliveryClaim) => new Set(deliveries.map((one) => one.organization_id))
      assert.deepStrictEqual(ids(yield* claim({ ...options, limit: 2, resume: true })), new Set([held.id, free.id]))
      const letGo = yield* holdRow(held.id)
      const passing = yield* claim({ ...options, resume: true })
      assert.deepStrictEqual([ids(passing), passing.more], [new Set([free.id]), true])
      yield* letGo()
      assert.deepStrictEqual(ids(yield* claim({ ...options, resume: true })), new Set([held.id]))
    })
  )

  it.effect("claim: locks no row while it waits for the rows of its completions", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const sql = yield* SqlClient.SqlClient
      const completed = yield* fixtures.backlog(2)
      const { claim } = yield* queue
      const { deliveries } = yield* claim(options)
      const other = yield* fixtures.backlog(1)
      const letGo = yield* holdRow(completed.id)
      const claiming = yield* Effect.forkChild(
        claim({ ...options, completions: deliveries.map((one) => fixtures.completion(one)) })
      )
      yield* waitsForLock
      // A statement that locks them in the other order would wait for this row: a deadlock.
      yield* letGo(sql`SELECT FROM organization_concurrency WHERE organization_id = ${other.id} FOR UPDATE NOWAIT`)
      assert.strictEqual((yield* Fiber.join(claiming)).completed.length, 2)
    })
  )

  it.effect("claim: reports that there is more when another worker has claimed its candidates", () =>
    Effect.gen(function* () {
      yield* fixtures.clear
      const completed = yield* fixtures.backlog(1)
      const [mine, others] = [yield* queue, yield* queue]
      const { deliveries } = yield* mine.claim(options)
      yield* fixtures.backlog(10)
      const letGo = yield* holdRow(completed.id)
      const claiming = yield* Effect.forkChild(
        mine.claim({ ...options, completions: deliveries.map((one) => fixtures.completion(one)) })
      )
      yield* waitsForLock
      assert.strictEqual((yield* others.claim({ ...options, limit: 5 })).deliveries.length, 5)
      yield* letGo()
      const first = yield* Fiber.join(claiming)
      assert.deepStrictEqual([first.deliveries.length, first.more], [0, true])
      assert.strictEqual((yield* mine.claim(options)).deliveries.length, 5)
    })
  )
})
