import { assert, describe, it } from "vitest"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { Clock } from "../../src/time/Clock.ts"
import { manualTime } from "../support/simulator.ts"

const limit = { perSecond: 10, perMinute: 30, perHour: 180 }

const limiter = (speed = 1) => {
  const time = manualTime()
  const clock = new Clock({ source: time.now, speed, offset: 0, onAdvance: () => {} })
  return { time, limiter: new RateLimiter(clock) }
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

describe("RateLimiter", () => {
  it("admits as many calls as a window holds, and the next when the first has left it", () => {
    const { limiter: one, time } = limiter()
    for (let call = 0; call < 10; call++) assert.isTrue(one.admit("a", limit).ok)
    assert.isFalse(one.admit("a", limit).ok)
    time.move(second - 1)
    assert.isFalse(one.admit("a", limit).ok)
    time.move(hour)
    assert.isTrue(one.admit("a", limit).ok)
  })

  it("has sliding windows: a full minute ends a minute after its first call", () => {
    const { limiter: one, time } = limiter()
    for (let call = 0; call < 30; call++) {
      assert.isTrue(one.admit("a", limit).ok, `call ${call}`)
      time.move(2 * second - 1)
    }
    // The first call was 30 × 1999 ms ago, which is 30 ms less than a minute.
    const refused = one.admit("a", limit)
    assert.deepStrictEqual(refused, {
      ok: false,
      retryAfterMs: second,
      exceeded: "Przekroczono limit 30 żądań na minutę."
    })
  })

  it("admits no more calls in any hour of three than its limit, and all calls of a caller that waits", () => {
    const { limiter: one, time } = limiter()
    const admitted: Array<number> = []
    for (const end = time.now() + 3 * hour; time.now() < end;) {
      const { ok, ...rest } = one.admit("a", limit)
      if (ok) admitted.push(time.now())
      else time.move("retryAfterMs" in rest ? rest.retryAfterMs : 0)
    }
    assert.strictEqual(admitted.length, 540)
    for (const [index, at] of admitted.entries()) {
      const within = (ms: number) => admitted.filter((other, place) => place <= index && other > at - ms).length
      assert.isAtMost(within(second), 10)
      assert.isAtMost(within(minute), 30)
      assert.isAtMost(within(hour), 180)
    }
  })

  it("returns an exact wait to a caller that obeys it, and doubles it up to an hour for another", () => {
    const { limiter: one, time } = limiter()
    for (let call = 0; call < 10; call++) one.admit("a", limit)
    const waits = Array.from({ length: 15 }, () => {
      const admission = one.admit("a", limit)
      return admission.ok ? 0 : admission.retryAfterMs / second
    })
    assert.deepStrictEqual(waits.slice(0, 5), [1, 2, 4, 8, 16])
    assert.strictEqual(Math.max(...waits), 3600)
    time.move(hour)
    for (let call = 0; call < 10; call++) assert.isTrue(one.admit("a", limit).ok)
    const again = one.admit("a", limit)
    assert.strictEqual(again.ok ? 0 : again.retryAfterMs, second)
  })

  it("counts no refused call in a window", () => {
    const { limiter: one } = limiter()
    for (let call = 0; call < 40; call++) one.admit("a", limit)
    assert.deepStrictEqual(one.used("a"), { perSecond: 10, perMinute: 10, perHour: 10 })
  })

  it("counts each key alone, and treats -1 as no limit", () => {
    const { limiter: one } = limiter()
    for (let call = 0; call < 10; call++) one.admit("a", limit)
    assert.isTrue(one.admit("b", limit).ok)
    const unlimited = { perSecond: -1, perMinute: -1, perHour: -1 }
    for (let call = 0; call < 5000; call++) assert.isTrue(one.admit("c", unlimited).ok)
  })

  it("has shorter windows with a speed", () => {
    const { limiter: one, time } = limiter(60)
    for (let call = 0; call < 10; call++) one.admit("a", limit)
    assert.isFalse(one.admit("a", limit).ok)
    time.move(second / 60 + 1)
    assert.isTrue(one.admit("a", limit).ok)
  })

  it("admits nothing with a limit of 0", () => {
    const { limiter: one } = limiter()
    assert.isFalse(one.admit("a", { perSecond: 0, perMinute: 0, perHour: 0 }).ok)
  })
})
