import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as DeliveryFetcher from "../../src/webhooks/DeliveryFetcher.ts"
import type { DeliveryClaim, DeliveryClaimOptions } from "../../src/webhooks/DeliveryQueue.ts"
import type { Promoted } from "../../src/webhooks/DeliveryScheduler.ts"
import { claimOf, completions } from "../support/completions.ts"

/** A fetcher with a queue that answers with the next of these claims. */
const start = Effect.fnUntraced(function* (
  claims: ReadonlyArray<DeliveryClaim>,
  options: {
    readonly concurrency?: number
    readonly organizationConcurrency?: number
    readonly promoted?: Promoted
    readonly ownPartitions?: ReadonlyArray<string>
    /** How long a claim takes, in milliseconds. */
    readonly claimMs?: number
  } = {}
) {
  const claimed: Array<DeliveryClaimOptions> = []
  const world = { pending: 0, uncommitted: 0, nowMs: 1000, promotions: 0 }
  const promoted = options.promoted ?? { retries: 0, leases: 0, next: undefined, anyDue: false }
  const fetcher = yield* DeliveryFetcher.make({
    queue: {
      claim: (given) =>
        Effect.delay(
          Effect.sync(() => claims[claimed.push(given) - 1] ?? claimOf(0)),
          options.claimMs ?? 0
        )
    },
    scheduler: {
      promoteDue: Effect.sync(() => {
        world.promotions += 1
        return promoted
      })
    },
    concurrency: options.concurrency ?? 10,
    organizationConcurrency: options.organizationConcurrency ?? 3,
    leaseMs: 30_000,
    ownPartitions: () => options.ownPartitions,
    backlog: () => world,
    pollIntervalMs: () => 1000,
    monotonicMs: () => world.nowMs
  })
  return { fetcher, claimed, world }
})

describe("DeliveryFetcher", () => {
  it.effect("claims for its free slots, for an organization at most its limit, and resumes afterwards", () =>
    Effect.gen(function* () {
      const { claimed, fetcher } = yield* start([claimOf(4, { more: true }), claimOf(2)])
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      yield* fetcher.claim(fetcher.plan(completions(1)), completions(1))
      assert.deepStrictEqual(claimed, [
        {
          limit: 10,
          general: 10,
          perOrganization: 3,
          leaseMs: 30_000,
          resume: false,
          completions: [],
          partitions: undefined
        },
        {
          limit: 6,
          general: 6,
          perOrganization: 3,
          leaseMs: 30_000,
          resume: true,
          completions: completions(1),
          partitions: undefined
        }
      ])
      assert.strictEqual(fetcher.attempting(), 6)
      assert.strictEqual(fetcher.plan([]), 0)
    })
  )

  it.effect("claims from its own partitions, and from all after a promotion that found anything due", () =>
    Effect.gen(function* () {
      const promoted = { retries: 0, leases: 0, next: undefined, anyDue: true }
      const { claimed, fetcher } = yield* start([], { promoted, ownPartitions: ["2", "4"] })
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      yield* fetcher.promoteDue
      yield* fetcher.claim(fetcher.plan([]), [])
      yield* fetcher.claim(1, [])
      assert.deepStrictEqual(
        claimed.map(({ partitions }) => partitions),
        [["2", "4"], undefined, ["2", "4"]]
      )
      assert.deepStrictEqual(fetcher.foreignFreed(completions(1)), ["org_1"])
    })
  )

  it.effect("cannot claim when no slot was free for a second", () =>
    Effect.gen(function* () {
      const { fetcher, world } = yield* start([claimOf(10)])
      assert.isTrue(fetcher.canClaim())
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      world.nowMs += 999
      assert.isTrue(fetcher.canClaim())
      world.nowMs += 1
      assert.isFalse(fetcher.canClaim())
      fetcher.onAttemptEnded()
      assert.isTrue(fetcher.canClaim())
    })
  )

  it.effect("cannot claim while it claims for reserved slots only", () =>
    Effect.gen(function* () {
      const { claimed, fetcher, world } = yield* start([claimOf(12, { more: true }), claimOf(1)], { concurrency: 16 })
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      world.nowMs += 1000
      yield* fetcher.claim(fetcher.plan([]), [])
      assert.deepStrictEqual(
        claimed.map(({ general }) => general),
        [12, 0]
      )
      assert.isFalse(fetcher.canClaim())
    })
  )

  it.effect("counts a lease from before its claim, so that a slow claim leaves less of it", () =>
    Effect.gen(function* () {
      const { fetcher } = yield* start([claimOf(1), claimOf(1)], { claimMs: 7000 })
      fetcher.wake()
      for (const issuedAt of [0, 7000]) {
        const claiming = yield* Effect.forkChild(fetcher.claim(1, []), { startImmediately: true })
        yield* TestClock.adjust(7000)
        assert.strictEqual((yield* Fiber.join(claiming)).leasedUntil, issuedAt + 30_000)
      }
    })
  )

  it.effect("claims at most 250 in one statement, and for an organization no more than there are free slots", () =>
    Effect.gen(function* () {
      const { claimed, fetcher } = yield* start([claimOf(0)], { concurrency: 400, organizationConcurrency: 1000 })
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      assert.deepInclude(claimed[0], { limit: 250, perOrganization: 400 })
    })
  )

  it.effect("waits a few milliseconds after a claim, so that the next one is larger", () =>
    Effect.gen(function* () {
      const { fetcher, world } = yield* start([claimOf(8, { more: true })])
      fetcher.wake()
      yield* fetcher.waitForBatch
      yield* fetcher.claim(fetcher.plan([]), [])
      const waiting = yield* Effect.forkChild(fetcher.waitForBatch, { startImmediately: true })
      yield* TestClock.adjust(3)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(waiting)
      world.nowMs += 4
      yield* fetcher.waitForBatch
    })
  )

  it.effect("ends the wait when half of its slots are free", () =>
    Effect.gen(function* () {
      const { fetcher } = yield* start([claimOf(7, { more: true })])
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      const waiting = yield* Effect.forkChild(fetcher.waitForBatch, { startImmediately: true })
      fetcher.onAttemptEnded()
      yield* Effect.yieldNow
      assert.isUndefined(waiting.pollUnsafe())
      fetcher.onAttemptEnded()
      yield* Fiber.join(waiting)
    })
  )

  it.effect("does not wait when there is nothing to write and nothing to claim", () =>
    Effect.gen(function* () {
      const { fetcher, world } = yield* start([claimOf(8)])
      fetcher.wake()
      yield* fetcher.claim(fetcher.plan([]), [])
      yield* fetcher.waitForBatch
      world.pending = world.uncommitted = 1
      const waiting = yield* Effect.forkChild(fetcher.waitForBatch, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* Fiber.interrupt(waiting)
    })
  )

  it.effect("promotes when a promotion is due, and not before", () =>
    Effect.gen(function* () {
      const promoted = { retries: 1, leases: 0, next: 700, anyDue: true }
      const { claimed, fetcher, world } = yield* start([claimOf(0), claimOf(0)], { promoted })
      yield* TestClock.setTime(500)
      yield* fetcher.claim(1, [])
      yield* fetcher.promoteDue
      assert.strictEqual(fetcher.plan([]), 10)
      assert.strictEqual(fetcher.sleepUntil(), 700)
      yield* TestClock.setTime(699)
      yield* fetcher.promoteDue
      assert.strictEqual(world.promotions, 1)
      yield* TestClock.setTime(700)
      yield* fetcher.promoteDue
      assert.strictEqual(world.promotions, 2)
      yield* fetcher.claim(1, [])
      assert.deepStrictEqual(
        claimed.map(({ resume }) => resume),
        [false, false]
      )
    })
  )

  it.effect("neither promotes nor claims after it has stopped", () =>
    Effect.gen(function* () {
      const { fetcher, world } = yield* start([])
      fetcher.stop()
      fetcher.wake()
      yield* fetcher.promoteDue
      assert.strictEqual(world.promotions, 0)
      assert.strictEqual(fetcher.plan(completions(1)), 0)
    })
  )
})
