import { assert, describe, it } from "@effect/vitest"
import { Backoff, maxRetryAfterMs } from "@govoice/dispatcher"
import * as Schema from "effect/Schema"

const thorough = { arbitrary: { runs: 2_000 } }

/** `nextDelay` with the number that `random` returns. */
const nextWait = ({ random, ...options }: Omit<Backoff.NextDelay, "random"> & { readonly random: number }) =>
  Backoff.nextDelay({ ...options, random: () => random })

const second = 1000
const minute = 60 * second
const hour = 60 * minute

// The schedule of the contract, written a second time.
const schedule = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, 2 * hour, 6 * hour]

const Attempt = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))
const Draw = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMaximum: true }))
const RetryAfter = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 * hour }))

describe("Backoff.defaultSchedule", () => {
  it("makes eight attempts by default, with these waits between them", () => {
    assert.deepStrictEqual(Backoff.defaultSchedule, schedule)
    assert.strictEqual(Backoff.maxAttempts(Backoff.defaultSchedule), 8)
    assert.strictEqual(maxRetryAfterMs, 21_600_000)
  })

  it("makes one attempt when there are no waits", () => {
    assert.strictEqual(Backoff.maxAttempts([]), 1)
    assert.isUndefined(nextWait({ attempt: 1, random: 0.5, schedule: [] }))
  })

  describe("nextWait", () => {
    it.each(schedule.map((wait, index) => [index + 1, wait] as const))(
      "after attempt %i waits %i ms, give or take a fifth",
      (attempt, wait) => {
        assert.strictEqual(nextWait({ attempt, random: 0 }), wait * 0.8)
        assert.strictEqual(nextWait({ attempt, random: 0.5 }), wait)
        assert.strictEqual(nextWait({ attempt, random: 1 - Number.EPSILON }), wait * 1.2)
      }
    )

    it("returns undefined after the last attempt, also with a Retry-After", () => {
      for (const attempt of [8, 9, 1000]) {
        assert.isUndefined(nextWait({ attempt, random: 0.5 }))
        assert.isUndefined(nextWait({ attempt, random: 0.5, retryAfterMs: hour }))
      }
    })

    it("waits as a given schedule says, in place of the default one", () => {
      const waits = [100, 200]
      assert.strictEqual(nextWait({ attempt: 2, random: 0.5, schedule: waits }), 200)
      assert.isUndefined(nextWait({ attempt: 3, random: 0.5, schedule: waits }))
    })

    it.prop(
      "returns whole milliseconds within a fifth of the scheduled wait",
      [Attempt, Draw],
      ([attempt, random]) => {
        const wait = nextWait({ attempt, random })!
        const planned = schedule[attempt - 1]!
        assert.isAtLeast(wait, planned * 0.8)
        assert.isAtMost(wait, planned * 1.2)
        assert.isTrue(Number.isInteger(wait))
      },
      thorough
    )

    it("spreads the waits evenly over the range", () => {
      const draws = Array.from({ length: 1000 }, (_, index) => nextWait({ attempt: 3, random: index / 1000 })!)
      assert.isTrue(draws.every((wait, index) => index === 0 || wait > draws[index - 1]!))
      assert.approximately(draws.reduce((sum, wait) => sum + wait, 0) / 1000, 2 * minute, 50)
    })

    it.prop(
      "is never shortened by Retry-After",
      [Attempt, Draw, RetryAfter],
      ([attempt, random, retryAfterMs]) => {
        assert.isAtLeast(nextWait({ attempt, random, retryAfterMs })!, nextWait({ attempt, random })!)
      },
      thorough
    )

    it.prop(
      "waits as long as Retry-After requests, up to six hours",
      [Attempt, Draw, RetryAfter],
      ([attempt, random, retryAfterMs]) => {
        const planned = nextWait({ attempt, random })!
        const asked = retryAfterMs > 6 * hour ? 6 * hour : retryAfterMs
        assert.strictEqual(nextWait({ attempt, random, retryAfterMs }), asked > planned ? asked : planned)
      },
      thorough
    )

    it("limits a requested wait to six hours", () => {
      for (const retryAfterMs of [6 * hour, 6 * hour + 1, 30 * 24 * hour, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
        assert.strictEqual(nextWait({ attempt: 1, random: 0.5, retryAfterMs }), 6 * hour)
      }
    })

    it("keeps a wait of its own that is longer than six hours", () => {
      assert.strictEqual(
        nextWait({ attempt: 7, random: 0.99, retryAfterMs: 24 * hour }),
        nextWait({ attempt: 7, random: 0.99 })
      )
      assert.strictEqual(
        nextWait({ attempt: 1, random: 0.5, schedule: [10 * hour], retryAfterMs: 9 * hour }),
        10 * hour
      )
    })

    it.each([Number.NaN, -1, -hour, Number.NEGATIVE_INFINITY, 0, -0, undefined])(
      "is not changed by a Retry-After of %d",
      (retryAfterMs) => {
        for (const random of [0, 0.25, 0.999]) {
          assert.strictEqual(nextWait({ attempt: 2, random, retryAfterMs }), nextWait({ attempt: 2, random }))
        }
      }
    )

    it("rounds a fraction up, so that no wait is shorter than the requested one", () => {
      assert.strictEqual(nextWait({ attempt: 1, random: 0.5, retryAfterMs: 7000.2 }), 7001)
    })
  })
})
