/** Claims, completions and promotion beside locks of other sessions. */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import * as SqlErrors from "../../src/database/SqlErrors.ts"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryScheduler from "../../src/deliveries/DeliveryScheduler.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"

const options = { limit: 100, perOrganization: 10, leaseMs: 30_000 }

const scheduler = Effect.provide(
  DeliveryScheduler.DeliveryScheduler,
  DeliveryScheduler.layer.pipe(Layer.provide(TestSettings.layer()))
)

const queue = Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))

/** Locks rows. The result releases them, after `last` in the same transaction. */
const hold = Effect.fnUntraced(function* (rows: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<Effect.Effect<unknown, unknown>>()
  const holder = yield* Effect.forkChild(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`SELECT FROM ${rows} FOR UPDATE`
        yield* Deferred.succeed(held, undefined)
        yield* Effect.flatten(Deferred.await(letGo))
      })
    )
  )
  yield* Deferred.await(held)
  return (last: Effect.Effect<unknown, unknown> = Effect.void) =>
    Effect.andThen(Deferred.succeed(letGo, last), Fiber.join(holder))
})

const holdRow = (id: Ids.OrganizationId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => hold(sql`organization_concurrency WHERE organization_id = ${id}`))

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

  it.effect("claim: leaves a locked delivery to a later claim", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      yield* fixtures.backlog(2)
      yield* fixtures.backlog(2)
      const [oldest] = yield* sql<{ readonly id: Ids.DeliveryId }>`SELECT id FROM deliveries ORDER BY id LIMIT 1`
      const { claim } = yield* queue
      const letGo = yield* hold(sql`deliveries WHERE id = ${oldest!.id}`)
      const claimed = [...(yield* claim(options)).deliveries, ...(yield* claim(options)).deliveries]
      assert.isAbove(claimed.length, 0)
      assert.notInclude(
        claimed.map(({ id }) => id),
        oldest!.id
      )
      yield* letGo()
      const all = [...claimed, ...(yield* claim(options)).deliveries, ...(yield* claim(options)).deliveries]
      assert.include(
        all.map(({ id }) => id),
        oldest!.id
      )
    })
  )

  const locks = {
    "the counts of an organization": ({ organization_id: id }: ClaimedDelivery) =>
      Effect.map(SqlClient.SqlClient, (sql) => sql`organization_concurrency WHERE organization_id = ${id}`),
    "a delivery": ({ id }: ClaimedDelivery) =>
      Effect.map(SqlClient.SqlClient, (sql) => sql`deliveries WHERE id = ${id}`)
  }

  for (const [name, rowsOf] of Object.entries(locks)) {
    it.effect(`complete: fails while ${name} is locked, and then writes the others`, () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        yield* fixtures.backlog(1)
        yield* fixtures.backlog(1)
        const { claim, complete, completeUnlocked } = yield* queue
        const { deliveries } = yield* claim(options)
        const [held, free] = deliveries
        const completions = deliveries.map((one) => fixtures.completion(one))
        const letGo = yield* hold(yield* rowsOf(held!))
        assert.isTrue(SqlErrors.isLockTimeout(yield* Effect.flip(complete(completions))))
        assert.deepStrictEqual(yield* completeUnlocked(completions), { written: [free!.id], locked: [held!.id] })
        // The other has been written, and is neither.
        assert.deepStrictEqual(yield* completeUnlocked(completions), { written: [], locked: [held!.id] })
        yield* letGo()
        assert.deepStrictEqual(yield* completeUnlocked(completions), { written: [held!.id], locked: [] })
        assert.deepStrictEqual(yield* completeUnlocked(completions), { written: [], locked: [] })
      })
    )

    it.effect(`promote: releases the other leases while ${name} is locked`, () =>
      Effect.gen(function* () {
        yield* fixtures.clear
        yield* fixtures.backlog(1)
        yield* fixtures.backlog(1)
        const { deliveries } = yield* (yield* queue).claim(options)
        const { promoteDue } = yield* scheduler
        yield* TestClock.adjust(options.leaseMs)
        const letGo = yield* hold(yield* rowsOf(deliveries[0]!))
        assert.include(yield* promoteDue, { leases: 1 })
        yield* letGo()
        yield* TestClock.adjust(DeliveryScheduler.limits.recheckMs)
        assert.include(yield* promoteDue, { leases: 1 })
      })
    )
  }

  it.effect("complete: records nothing of an endpoint that is locked", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      yield* fixtures.backlog(1)
      yield* fixtures.backlog(1)
      const { claim, complete } = yield* queue
      const { deliveries } = yield* claim(options)
      const completions = deliveries.map((one) => fixtures.completion(one, { status: "failed", last_http_status: 500 }))
      const letGo = yield* hold(sql`webhook_endpoints WHERE id = ${deliveries[0]!.endpoint_id}`)
      assert.lengthOf(yield* complete(completions), 2)
      yield* letGo()
      const failing = yield* sql<{
        readonly id: string
      }>`SELECT id FROM webhook_endpoints WHERE failing_since IS NOT NULL`
      assert.deepStrictEqual(
        failing.map(({ id }) => id),
        [deliveries[1]!.endpoint_id]
      )
    })
  )

  it.effect("promote: leaves a locked retry to a later promotion", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fixtures.clear
      yield* fixtures.backlog(2)
      const { claim, complete } = yield* queue
      const { deliveries } = yield* claim(options)
      const { promoteDue } = yield* scheduler
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* complete(
        deliveries.map((one) =>
          fixtures.completion(one, { status: "retrying", next_retry_at: at, last_http_status: 500 })
        )
      )
      const letGo = yield* hold(sql`deliveries WHERE id = ${deliveries[0]!.id}`)
      const retries = deliveries.length - 1
      assert.include(yield* promoteDue, { retries })
      yield* letGo()
      assert.include(yield* promoteDue, { retries: 1 })
    })
  )
})
