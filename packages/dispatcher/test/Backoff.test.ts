import { assert, describe, it } from "@effect/vitest"
import { Backoff, DispatcherError, maxRetryAfterMs } from "@govoice/dispatcher"
import * as fc from "fast-check"

const middle = () => 0.5
const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

describe("Backoff.nextDelay", () => {
  it("waits 5 s, 30 s, 2 min, 10 min, 30 min, 2 h and 6 h between 8 attempts", () => {
    const waits = Array.from({ length: 9 }, (_, index) => Backoff.nextDelay({ attempt: index + 1, random: middle }))
    assert.deepEqual(waits, [
      5 * seconds,
      30 * seconds,
      2 * minutes,
      10 * minutes,
      30 * minutes,
      2 * hours,
      6 * hours,
      undefined,
      undefined
    ])
  })

  it("changes each wait by up to 20 percent", () => {
    assert.strictEqual(Backoff.nextDelay({ attempt: 1, random: () => 0 }), 4 * seconds)
    assert.strictEqual(Backoff.nextDelay({ attempt: 1, random: () => 1 }), 6 * seconds)
    assert.strictEqual(Backoff.nextDelay({ attempt: 7, random: () => 0 }), 4.8 * hours)
  })

  it("changes each wait at random by default", () => {
    const waits = new Set(Array.from({ length: 50 }, () => Backoff.nextDelay({ attempt: 1 })))
    assert.isAbove(waits.size, 10)
    for (const wait of waits) assert.isTrue(wait! >= 4 * seconds && wait! <= 6 * seconds)
  })

  it("waits as a given schedule says, and not after its end", () => {
    const schedule = [10, 20]
    assert.strictEqual(Backoff.nextDelay({ attempt: 1, schedule, random: middle }), 10)
    assert.strictEqual(Backoff.nextDelay({ attempt: 2, schedule, random: middle }), 20)
    assert.isUndefined(Backoff.nextDelay({ attempt: 3, schedule }))
    assert.isUndefined(Backoff.nextDelay({ attempt: 1, schedule: [] }))
  })

  it("throws in place of a wait that is NaN or infinite, and returns 0 in place of a negative one", () => {
    for (const options of [
      { schedule: [Number.NaN] },
      { schedule: [Number.POSITIVE_INFINITY] },
      { random: () => Number.NaN },
      { jitter: () => Number.NaN }
    ]) {
      assert.throws(() => Backoff.nextDelay({ attempt: 1, ...options }), DispatcherError)
    }
    assert.strictEqual(Backoff.nextDelay({ attempt: 1, schedule: [-5] }), 0)
  })

  it("returns undefined for an invalid attempt number", () => {
    for (const attempt of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.isUndefined(Backoff.nextDelay({ attempt }))
    }
  })

  it("returns a wait that Retry-After lengthens, up to 6 hours, and never shortens", () => {
    const next = (retryAfterMs: number) => Backoff.nextDelay({ attempt: 1, random: middle, retryAfterMs })
    assert.strictEqual(next(7 * seconds), 7 * seconds)
    assert.strictEqual(next(1 * seconds), 5 * seconds)
    assert.strictEqual(next(0), 5 * seconds)
    assert.strictEqual(next(-1), 5 * seconds)
    assert.strictEqual(next(Number.NaN), 5 * seconds)
    assert.strictEqual(next(7 * hours), 6 * hours)
    assert.strictEqual(next(Number.POSITIVE_INFINITY), 6 * hours)
    assert.strictEqual(maxRetryAfterMs, 6 * hours)
  })

  it("returns undefined if no attempt is left", () => {
    assert.isUndefined(Backoff.nextDelay({ attempt: 8, retryAfterMs: 1_000 }))
  })

  it("returns no wait shorter than Retry-After within its limit, for any random number", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 10 * hours }),
        (attempt, random, retryAfterMs) => {
          const base = Backoff.defaultSchedule[attempt - 1]!
          const wait = Backoff.nextDelay({ attempt, random: () => random, retryAfterMs })!
          assert.isTrue(Number.isInteger(wait))
          assert.isAtLeast(wait, Math.min(retryAfterMs, 6 * hours))
          assert.isAtLeast(wait, Math.floor(base * 0.8))
          assert.isAtMost(wait, Math.max(Math.ceil(base * 1.2), Math.min(retryAfterMs, 6 * hours)))
        }
      ),
      { numRuns: 2_000 }
    )
  })
})

describe("Jitter", () => {
  it("full returns a wait from 0 to the given wait", () => {
    assert.strictEqual(Backoff.full(1_000, 0), 0)
    assert.strictEqual(Backoff.full(1_000, 0.25), 250)
    assert.strictEqual(Backoff.nextDelay({ attempt: 1, jitter: Backoff.full, random: () => 0.1 }), 500)
  })

  it("proportional returns a wait in a range around the given wait", () => {
    assert.strictEqual(Backoff.proportional(0.5)(1_000, 0), 500)
    assert.strictEqual(Backoff.proportional(0.5)(1_000, 1), 1_500)
    assert.strictEqual(Backoff.proportional(0)(1_000, 0.9), 1_000)
  })

  it("none returns the given wait", () => {
    assert.strictEqual(Backoff.nextDelay({ attempt: 2, jitter: Backoff.none }), 30 * seconds)
  })
})

describe("Backoff.exponential", () => {
  it("returns waits that grow by a factor up to a maximum", () => {
    assert.deepEqual(Backoff.exponential({ baseMs: 100, attempts: 5 }), [100, 200, 400, 800])
    assert.deepEqual(Backoff.exponential({ baseMs: 100, attempts: 4, factor: 10, maxMs: 5_000 }), [100, 1_000, 5_000])
    assert.deepEqual(Backoff.exponential({ baseMs: 100, attempts: 1 }), [])
  })

  it("returns finite waits for 1,000 attempts", () => {
    const schedule = Backoff.exponential({ baseMs: 1_000, attempts: 1_000 })
    assert.strictEqual(schedule.length, 999)
    assert.strictEqual(schedule.at(-1), 6 * hours)
    assert.deepEqual(Backoff.exponential({ baseMs: 0, attempts: 4, factor: 1e300 }), [0, 0, 0])
  })

  for (const options of [
    { baseMs: 1, attempts: 0 },
    { baseMs: 1, attempts: 1.5 },
    { baseMs: 1, attempts: 1_001 },
    { baseMs: -1, attempts: 2 },
    { baseMs: Number.NaN, attempts: 2 },
    { baseMs: 1, attempts: 2, factor: -1 },
    { baseMs: 1, attempts: 2, maxMs: Number.POSITIVE_INFINITY }
  ]) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      assert.throws(() => Backoff.exponential(options), DispatcherError)
    })
  }
})
