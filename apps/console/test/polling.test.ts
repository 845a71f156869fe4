/**
 * Polling: as often as the data asks for, less often after errors, and not at all while nobody looks.
 */
import type * as Polling from "../src/api/polling.ts"
import type * as Problems from "../src/session/problem.ts"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"

const minute = 60_000
const start = Date.parse("2026-11-23T10:00:00Z")
describe("the polling of a query", () => {
  let polling: typeof Polling
  let problems: typeof Problems
  let input: () => void
  const refused = (problem: { readonly retryable: boolean; readonly retryAfterMs?: number }) =>
    new problems.SessionError({ code: "internal_error", message: "The request failed.", ...problem })
  // The state of a query as the cache keeps it: what it succeeded with last, and its errors since.
  const query = { state: { data: 1, dataUpdatedAt: start, error: null, errorUpdateCount: 0, errorUpdatedAt: 0 } }
  const failed = (times: number, error: Error, before = 0) => {
    const state = { ...query.state, error, errorUpdateCount: before + times, errorUpdatedAt: start + times }
    return Object.assign(query, { state })
  }

  beforeEach(async () => {
    vi.useFakeTimers({ now: start, toFake: ["Date"] })
    vi.resetModules()
    // The page tells the module of keys and clicks.
    vi.stubGlobal("addEventListener", (_: string, listener: () => void) => (input = listener))
    problems = await import("../src/session/problem.ts")
    polling = await import("../src/api/polling.ts")
    Object.assign(query, {
      state: { data: 1, dataUpdatedAt: start, error: null, errorUpdateCount: 0, errorUpdatedAt: 0 }
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it("has the interval that its data determines", () => {
    const byData = polling.everyBy<number>((data) => data === 1 && 2000)
    assert.strictEqual(byData(query), 2000)
    assert.isFalse(byData({ state: { ...query.state, data: 2 } }))
    assert.strictEqual(polling.every(5000)(query), 5000)
  })

  it("waits 5, 10 and 30 s after errors in a row, and its interval after a success", () => {
    const every = polling.every(2000)
    assert.strictEqual(every(query), 2000)
    const waits = [1, 2, 3, 4].map((times) => every(failed(times, refused({ retryable: true }))))
    assert.deepStrictEqual(waits, [5000, 10_000, 30_000, 30_000])
    Object.assign(query, { state: { ...query.state, error: null, dataUpdatedAt: start + 10 } })
    assert.strictEqual(every(query), 2000)
    Object.assign(query, { state: { ...query.state, dataUpdatedAt: start } })
    assert.strictEqual(every(failed(1, refused({ retryable: true }), 4)), 5000)
  })

  it("waits for Retry-After, and ends after an error that is not retryable", () => {
    const every = polling.every(2000)
    every(query)
    assert.strictEqual(every(failed(1, refused({ retryable: true, retryAfterMs: 17_000 }))), 17_000)
    assert.isFalse(every(failed(2, refused({ retryable: false }))))
  })

  it("stops while it is paused, and notifies listeners when it resumes", () => {
    const every = polling.every(2000)
    let resumed = 0
    polling.onResume(() => resumed++)
    polling.setPaused(true)
    assert.isFalse(every(query))
    assert.strictEqual(resumed, 0)
    polling.setPaused(false)
    assert.strictEqual(every(query), 2000)
    assert.strictEqual(resumed, 1)
  })

  it("stops after half an hour without input, and resumes with the next input", () => {
    const every = polling.every(2000)
    let resumed = 0
    polling.onResume(() => resumed++)
    vi.setSystemTime(start + 30 * minute)
    assert.strictEqual(every(query), 2000)
    vi.setSystemTime(start + 30 * minute + 1)
    assert.isFalse(every(query))
    input()
    assert.strictEqual(every(query), 2000)
    assert.strictEqual(resumed, 1)
    input()
    assert.strictEqual(resumed, 1)
  })
})
