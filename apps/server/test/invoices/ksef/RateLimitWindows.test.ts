import { assert, describe, it } from "@effect/vitest"
import { Operation } from "@govoice/ksef/protocol"
import * as fc from "fast-check"
import { type StoredWindows, RateLimitWindows, toLimits } from "../../../src/invoices/ksef/RateLimitWindows.ts"

const group = "invoiceSend"
const limit = Operation.defaultRateLimits[group]
const nothing: StoredWindows = { used: {}, blocked: {} }
const make = (stored: StoredWindows = nothing) => new RateLimitWindows({}, stored)

const throughJson = (stored: StoredWindows) => JSON.parse(JSON.stringify(stored)) as StoredWindows

// The most calls in any sliding window, as the national system counts their arrivals.
const fullest = (arrivals: ReadonlyArray<number>, lengthMs: number): number => {
  let most = 0
  let first = 0
  arrivals.forEach((at, index) => {
    while (arrivals[first]! <= at - lengthMs) first += 1
    most = Math.max(most, index - first + 1)
  })
  return most
}

const call = (windows: RateLimitWindows, at: number, latencyMs = 0) => {
  windows.begin(group)
  windows.end(group, at + latencyMs, true)
}

describe("RateLimitWindows", () => {
  it("lets calls begin where KSeF returns limits of zero, or none", () => {
    for (const each of [0, -1]) {
      const limits = toLimits({ [group]: { perSecond: each, perMinute: each, perHour: each } })
      assert.strictEqual(new RateLimitWindows(limits, nothing).earliest(group, 1000), 1000)
    }
  })

  it("never lets more calls into a window than fit, for any latencies, clocks and changes of holder", () => {
    const step = fc.record({
      latencyMs: fc.integer({ min: 0, max: 3000 }),
      arrival: fc.double({ min: 0, max: 1, noNaN: true }),
      idleMs: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 600_000 })),
      handOver: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, fc.constant(true))
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 200, maxLength: 500 }), (steps) => {
        let windows = make()
        let now = 1_000_000
        const arrivals: Array<number> = []
        for (const { arrival, handOver, idleMs, latencyMs } of steps) {
          if (handOver) windows = make(throughJson(windows.stored(now)))
          now = windows.earliest(group, now + idleMs)
          windows.begin(group)
          arrivals.push(now + latencyMs * arrival)
          now += latencyMs
          windows.end(group, now, true)
        }
        assert.isAtMost(fullest(arrivals, 1000), limit.perSecond!)
        assert.isAtMost(fullest(arrivals, 60_000), limit.perMinute!)
        assert.isAtMost(fullest(arrivals, 3_600_000), limit.perHour!)
      }),
      { numRuns: 30 }
    )
  })

  it("allows 540 calls in three hours, also if the holder changes every five minutes", () => {
    for (const handOverMs of [Infinity, 300_000]) {
      let windows = make()
      let sent = 0
      let handedOverAt = 0
      for (let now = windows.earliest(group, 0); now < 3 * 3_600_000; now = windows.earliest(group, now)) {
        if (now - handedOverAt >= handOverMs) {
          windows = make(throughJson(windows.stored(now)))
          handedOverAt = now
          continue
        }
        call(windows, now)
        sent += 1
      }
      assert.isAtLeast(sent, 538)
      assert.isAtMost(sent, 540)
    }
  })

  it("counts a call in flight, and removes one that was never sent", () => {
    const windows = make()
    for (let index = 0; index < 10; index++) windows.begin(group)
    assert.strictEqual(windows.earliest(group, 0), Infinity)
    for (let index = 0; index < 9; index++) windows.end(group, 0, true)
    windows.end(group, 0, false)
    assert.strictEqual(windows.earliest(group, 0), 0)
    call(windows, 0)
    assert.strictEqual(windows.earliest(group, 0), 2500)
    assert.strictEqual(windows.capacity(group, 0, 60_000), 20)
  })

  it("stores a call in flight as ended, so that the next holder counts it", () => {
    const windows = make()
    windows.begin(group)
    assert.deepStrictEqual(windows.stored(5000).used, { [group]: [[5000, 1]] })
  })

  it("obeys any Retry-After, and halves the rate if the window had room", () => {
    const windows = make()
    call(windows, 0)
    windows.refuse(group, 0, 2_680_000)
    assert.strictEqual(windows.earliest(group, 0), 2_681_000)
    const restored = make(throughJson(windows.stored(1000)))
    assert.strictEqual(restored.earliest(group, 1000), 2_681_000)
    for (let index = 0; index < 5; index++) call(restored, 2_681_000)
    assert.strictEqual(restored.earliest(group, 2_681_000), 2_681_000 + 2500)
  })

  it("doubles the wait of refusals without Retry-After to an hour, until a call succeeds", () => {
    const windows = make()
    let at = 0
    const waits = Array.from({ length: 8 }, () => {
      windows.begin(group)
      windows.end(group, at, true, true)
      windows.refuse(group, at, undefined)
      const waitMs = windows.earliest(group, at) - at - 1000
      at += waitMs + 1000
      return waitMs / 60_000
    })
    assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
    call(windows, at)
    windows.refuse(group, at, undefined)
    assert.strictEqual(windows.earliest(group, at), at + 61_000)
  })

  it("counts refusals of calls that were under way together as one", () => {
    const windows = make()
    for (let index = 0; index < 8; index++) windows.begin(group)
    for (let index = 0; index < 8; index++) {
      windows.end(group, index, true, true)
      windows.refuse(group, index, undefined)
    }
    assert.strictEqual(windows.earliest(group, 7), 61_007)
  })

  it("blocks the whole lane when a second group refuses during a block", () => {
    const windows = make()
    windows.refuse(group, 0, 60_000)
    assert.strictEqual(windows.earliest("sessionMisc", 0), 0)
    windows.refuse("invoiceStatus", 0, 90_000)
    assert.strictEqual(windows.earliest("sessionMisc", 0), 91_000)
  })
})
