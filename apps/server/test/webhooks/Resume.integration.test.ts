/**
 * Two workers that resume, with random events between their claims, miss no delivery.
 *
 * When a worker reports that another claim would find nothing, then every delivery that can still be claimed became
 * available with an earlier due time since the worker last began at the front, or belongs to an organization that it
 * reported to be at its concurrency limit. `RESUME_RUNS` sets how many runs there are (more
 * in the long tests), `RESUME_SEED` where they begin.
 */
import { assert, layer } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ClaimedDelivery } from "../../src/webhooks/ClaimedDelivery.ts"
import * as WorkerGroup from "../../src/jobs/WorkerGroup.ts"
import * as DeliveryQueue from "../../src/webhooks/DeliveryQueue.ts"
import * as QuarantineQueue from "../../src/webhooks/QuarantineQueue.ts"
import * as DeliveryScheduler from "../../src/webhooks/DeliveryScheduler.ts"
import { layerPostgres } from "../support/TestDatabase.ts"
import * as fixtures from "../support/fixtures.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { makeRandom } from "../support/Random.ts"

const runs = Number(process.env["RESUME_RUNS"] ?? 4)
const firstSeed = Number(process.env["RESUME_SEED"] ?? 1)
const stepsOfARun = 60

const leaseMs = 10_000

interface Ready {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
}

interface Worker {
  readonly queue: DeliveryQueue.DeliveryQueue["Service"]
  held: ReadonlyArray<ClaimedDelivery>
  /** Deliveries that became available since it last began at the front, with an earlier due time than others. */
  outOfTurn: Set<Ids.DeliveryId>
}

const run = Effect.fnUntraced(function* (seed: number) {
  const { chance, of, upTo } = makeRandom(seed)
  const sql = yield* SqlClient.SqlClient
  const timers = yield* DeliveryScheduler.DeliveryScheduler
  const quarantine = yield* QuarantineQueue.QuarantineQueue
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
    workers.push({ queue, held: [], outOfTurn: new Set() })
  }

  const ready = sql<Ready>`SELECT id, organization_id FROM deliveries WHERE is_due AND lease_expires_at IS NULL`

  const outOfTurn = <A, E, R>(change: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const before = new Set((yield* ready).map(({ id }) => id))
      yield* change
      for (const { id } of yield* ready) {
        if (!before.has(id)) for (const { outOfTurn } of workers) outOfTurn.add(id)
      }
    })

  // Deliveries in turn are due one millisecond after the other, and none is due earlier from then on.
  const add = Effect.gen(function* () {
    const { id, organization } = of(endpoints)
    const count = 1 + upTo(of([2, 15, 40]))
    yield* fixtures.deliveries(organization, id, count)
    yield* TestClock.adjust(count)
  })

  const addEarly = Effect.suspend(() => {
    const { id, organization } = of(endpoints)
    return outOfTurn(fixtures.deliveries(organization, id, 1 + upTo(3), { dueAt: 500_000 + upTo(1000) }))
  })

  const promoteDue = Effect.gen(function* () {
    // Long enough for a retry, or also for a lease.
    yield* TestClock.adjust(chance(0.3) ? leaseMs + 1000 : 1500)
    yield* outOfTurn(timers.promoteDue)
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
              delivered_at: null,
              next_retry_at: new Date(now + 1000).toISOString()
            })
      )
  })

  const claim = Effect.fnUntraced(function* (
    worker: Worker,
    limit: number,
    resume: boolean,
    share: number,
    partitions?: ReadonlyArray<string>
  ) {
    if (!resume) worker.outOfTurn.clear()
    const completions = yield* ends(worker, share)
    const claimed = yield* worker.queue.claim({ ...options, limit, resume, completions, partitions })
    assert.isAtMost(claimed.deliveries.length, limit, said)
    for (const { id } of claimed.deliveries) worker.outOfTurn.delete(id)
    worker.held = [...worker.held, ...claimed.deliveries]
    return claimed
  })

  // Claims while the worker may have work, and checks that it does not sleep too early.
  const claimAll = Effect.fnUntraced(function* (worker: Worker) {
    const limit = of([1, 2, 12, 50])
    let claimed = yield* claim(worker, limit, chance(0.8), 0.7)
    for (let turns = 0; claimed.more; turns++) {
      assert.isBelow(turns, 1500, `${said}: there is always more`)
      claimed = yield* claim(worker, limit, true, 0)
    }
    const atConcurrencyLimit = new Set(claimed.atConcurrencyLimit)
    const missed = (yield* ready).filter(
      ({ id, organization_id }) => !worker.outOfTurn.has(id) && !atConcurrencyLimit.has(organization_id)
    )
    assert.deepStrictEqual(missed, [], said)

    // A worker that begins at the front finds nothing else either.
    const other = yield* Effect.provide(DeliveryQueue.DeliveryQueue, Layer.fresh(DeliveryQueue.layer))
    const { deliveries } = yield* other.claim({ limit: 500, perOrganization: bound, leaseMs })
    const found = deliveries.filter(({ id }) => !worker.outOfTurn.has(id)).map(({ id }) => id)
    assert.deepStrictEqual(found, [], said)
    worker.held = [...worker.held, ...deliveries]
  })

  // A claim for some partitions leaves resume cursors in the others, too.
  const claimOnce = Effect.suspend(() => {
    const partitions = chance(0.5) ? WorkerGroup.partitions.filter(() => chance(0.5)) : undefined
    return claim(of(workers), of([1, 2, 12, 50]), chance(0.9), 0.5, partitions)
  })
  const steps = [add, add, addEarly, promoteDue, claimOnce, claimOnce, Effect.suspend(() => claimAll(of(workers)))]
  for (let step = 0; step < stepsOfARun; step++) yield* of<Effect.Effect<unknown, unknown, SqlClient.SqlClient>>(steps)

  // Everything is delivered in the end, by workers that begin at the front after each promotion.
  const unfinished = sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM deliveries WHERE status <> 'succeeded'`
  for (let round = 0; (yield* unfinished)[0]!.n > 0; round++) {
    assert.isBelow(round, 100, `${said}: it does not end`)
    yield* promoteDue
    for (let quarantined = yield* quarantine.claim(options); quarantined !== undefined;) {
      yield* workers[0]!.queue.complete([fixtures.completion(quarantined)])
      quarantined = yield* quarantine.claim(options)
    }
    for (const worker of workers) {
      let more = true
      for (let resume = false; more; resume = true) more = (yield* claim(worker, 50, resume, 1)).more
      while (worker.held.length > 0) yield* claim(worker, 50, true, 1)
    }
  }
  const organization_concurrency = yield* sql<{
    readonly in_flight: unknown
  }>`SELECT in_flight FROM organization_concurrency WHERE in_flight <> '{}'`
  assert.deepStrictEqual(organization_concurrency, [], said)
})

const { webhooks } = TestSettings.settings()
const services = Layer.merge(DeliveryScheduler.layer, QuarantineQueue.layer).pipe(
  Layer.provide(TestSettings.layer({ webhooks: { ...webhooks, retrySchedule: [1000] } }))
)

layer(layerPostgres, { timeout: "120 seconds" })("DeliveryQueue, resumed at random", (it) => {
  it.effect(
    `claim: a worker that resumes misses only earlier due times: ${runs} runs from seed ${firstSeed}`,
    () =>
      Effect.forEach(
        Array.from({ length: runs }, (_, n) => firstSeed + n),
        run,
        { discard: true }
      ).pipe(Effect.provide(services)),
    { timeout: 20_000 + runs * 4000 }
  )
})
