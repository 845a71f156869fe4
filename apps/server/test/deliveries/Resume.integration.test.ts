/**
 * Two workers, with random events between their claims, miss no delivery.
 *
 * When a worker reports that another claim would find nothing, then a worker that begins anew finds nothing either, except
 * deliveries that became available with an earlier due time within the last minute. `RESUME_RUNS` sets how many runs there are
 * (more in the long tests), `RESUME_SEED` where they begin.
 */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ClaimedDelivery } from "../../src/deliveries/ClaimedDelivery.ts"
import * as AloneWorker from "../../src/deliveries/AloneWorker.ts"
import * as DeliveryQueue from "../../src/deliveries/DeliveryQueue.ts"
import * as DeliveryScheduler from "../../src/deliveries/DeliveryScheduler.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { makeRandom } from "../support/Random.ts"

const runs = Number(process.env["RESUME_RUNS"] ?? 4)
const firstSeed = Number(process.env["RESUME_SEED"] ?? 1)
const stepsOfARun = 60

const leaseMs = 10_000

interface Worker {
  readonly queue: DeliveryQueue.DeliveryQueue["Service"]
  held: ReadonlyArray<ClaimedDelivery>
}

const run = Effect.fnUntraced(function* (seed: number) {
  const { chance, of, upTo } = makeRandom(seed)
  const sql = yield* SqlClient.SqlClient
  const timers = yield* DeliveryScheduler.DeliveryScheduler
  const alone = yield* AloneWorker.makeClaim
  const bound = of([1, 3, 10, 100])
  const options = { perOrganization: bound, leaseMs }
  const said = `seed ${seed}`

  yield* fixtures.clear
  yield* TestClock.setTime(1_000_000)
  const endpoints: Array<{ readonly organization: Ids.OrganizationId; readonly id: Ids.EndpointId }> = []
  for (let n = of([1, 4, 12]); n > 0; n--) {
    const organization = yield* fixtures.organization
    for (let m = of([1, 1, 2, 4]); m > 0; m--)
      endpoints.push({ organization, id: yield* fixtures.endpoint(organization) })
  }
  const workers: Array<Worker> = []
  for (let n = 0; n < 2; n++) {
    const queue = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
    workers.push({ queue, held: [] })
  }

  // When each delivery was added that is due earlier than others.
  const early = new Map<Ids.DeliveryId, number>()

  // Deliveries in turn are due one millisecond after the other, and none is due earlier from then on.
  const add = Effect.gen(function* () {
    const { id, organization } = of(endpoints)
    const count = 1 + upTo(of([2, 15, 40]))
    yield* fixtures.deliveries(organization, id, count)
    yield* TestClock.adjust(count)
  })

  const addEarly = Effect.gen(function* () {
    const { id, organization } = of(endpoints)
    const added = yield* fixtures.deliveries(organization, id, 1 + upTo(3), { dueAt: 500_000 + upTo(1000) })
    const now = yield* Clock.currentTimeMillis
    for (const one of added) early.set(one, now)
  })

  const promoteDue = Effect.gen(function* () {
    // Long enough for a retry, or also for a lease.
    yield* TestClock.adjust(chance(0.3) ? leaseMs + 1000 : 1500)
    yield* timers.promoteDue
  })

  const ends = Effect.fnUntraced(function* (worker: Worker, share: number) {
    const now = yield* Clock.currentTimeMillis
    const ended = worker.held.filter(() => chance(share))
    worker.held = worker.held.filter((one) => !ended.includes(one))
    return ended
      .filter(() => chance(0.95))
      .map((one) =>
        chance(0.8)
          ? fixtures.completion(one)
          : fixtures.completion(one, {
              status: "retrying",
              next_retry_at: new Date(now + 1000).toISOString()
            })
      )
  })

  const claim = Effect.fnUntraced(function* (worker: Worker, limit: number, share: number) {
    const completions = yield* ends(worker, share)
    if (completions.length > 0) yield* worker.queue.complete(completions)
    const claimed = yield* worker.queue.claim({ ...options, limit })
    assert.isAtMost(claimed.deliveries.length, limit, said)
    worker.held = [...worker.held, ...claimed.deliveries]
    return claimed
  })

  // Claims while the worker may have work, and checks that it does not sleep too early.
  const claimAll = Effect.fnUntraced(function* (worker: Worker) {
    const limit = of([1, 2, 12, 50])
    let claimed = yield* claim(worker, limit, 0.7)
    for (let turns = 0; claimed.more; turns++) {
      assert.isBelow(turns, 1500, `${said}: there is always more`)
      claimed = yield* claim(worker, limit, 0)
    }
    const other = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
    const { deliveries } = yield* other.claim({ limit: 500, perOrganization: bound, leaseMs })
    const now = yield* Clock.currentTimeMillis
    const missed = deliveries.filter(({ id }) => now - (early.get(id) ?? 0) > 61_000)
    assert.deepStrictEqual(
      missed.map(({ id }) => id),
      [],
      said
    )
    // What is left waits for a completion.
    if (deliveries.length > 0)
      assert.isTrue(
        deliveries.every(({ id }) => early.has(id)),
        said
      )
    worker.held = [...worker.held, ...deliveries]
  })

  const claimOnce = Effect.suspend(() => claim(of(workers), of([1, 2, 12, 50]), 0.5))
  const steps = [add, add, addEarly, promoteDue, claimOnce, claimOnce, Effect.suspend(() => claimAll(of(workers)))]
  for (let step = 0; step < stepsOfARun; step++) yield* of<Effect.Effect<unknown, unknown, SqlClient.SqlClient>>(steps)

  // Everything is delivered in the end.
  const unfinished = sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM deliveries WHERE status <> 'succeeded'`
  for (let round = 0; (yield* unfinished)[0]!.n > 0; round++) {
    assert.isBelow(round, 100, `${said}: it does not end`)
    yield* promoteDue
    for (let delivery = yield* alone(options); delivery !== undefined; delivery = yield* alone(options)) {
      yield* workers[0]!.queue.complete([fixtures.completion(delivery)])
    }
    for (const worker of workers) {
      while ((yield* claim(worker, 50, 1)).more);
      while (worker.held.length > 0) yield* claim(worker, 50, 1)
    }
  }
  const organization_concurrency = yield* sql<{
    readonly in_flight: unknown
  }>`SELECT in_flight FROM organization_concurrency WHERE in_flight <> '{}'`
  assert.deepStrictEqual(organization_concurrency, [], said)
})

const { webhooks } = TestSettings.settings()
const services = DeliveryScheduler.layer.pipe(
  Layer.provide(TestSettings.layer({ webhooks: { ...webhooks, retrySchedule: [1000] } }))
)

layer(layerPostgres, { timeout: "120 seconds" })("DeliveryQueue, with random events", (it) => {
  it.effect(
    `claim: a worker misses nothing: ${runs} runs from seed ${firstSeed}`,
    () =>
      Effect.forEach(
        Array.from({ length: runs }, (_, n) => firstSeed + n),
        run,
        { discard: true }
      ).pipe(Effect.provide(services)),
    { timeout: 20_000 + runs * 4000 }
  )
})
