import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "../../../src/invoices/ksef/CircuitBreaker.ts"

const second = 1000
const hour = 3_600_000

const failures = (count: number, everyMs: number, from = CircuitBreaker.closed) =>
  Array.from({ length: count }, (_, index) => index * everyMs).reduce(
    (state, at) => CircuitBreaker.failed(state, at),
    from
  )

/** Opens it by as many probes that failed, each as soon as it may be made. */
const openTimes = (probes: number) => {
  let state = failures(10, 100)
  const waits = [state.openUntil - 900]
  for (let probe = 0; probe < probes; probe++) {
    const at = state.openUntil
    state = CircuitBreaker.failed(state, at, true)
    waits.push(state.openUntil - at)
  }
  return { state, waits }
}

describe("CircuitBreaker", () => {
  it("opens after ten failures in a row within a minute", () => {
    assert.isFalse(CircuitBreaker.isOpen(failures(9, 100)))
    assert.isTrue(CircuitBreaker.isOpen(failures(10, 6000)))
    assert.isFalse(CircuitBreaker.isOpen(failures(10, 7000)), "more than a minute")
  })

  it("starts to count again after an answer", () => {
    const answered = CircuitBreaker.succeeded(failures(9, 100))
    assert.isFalse(CircuitBreaker.isOpen(failures(9, 100, answered)))
  })

  it("stays open for 15 seconds, doubling to five minutes with each probe that fails", () => {
    assert.deepStrictEqual(
      openTimes(6).waits,
      [15, 30, 60, 120, 240, 300, 300].map((seconds) => seconds * second)
    )
  })

  it("ignores calls that began before it opened, so that only the probe closes it", () => {
    const { state } = openTimes(2)
    assert.deepStrictEqual(CircuitBreaker.failed(state, state.openUntil + 1), state)
    assert.deepStrictEqual(CircuitBreaker.succeeded(state), state)
    assert.deepStrictEqual(CircuitBreaker.succeeded(state, true), CircuitBreaker.closed)
  })

  it("lets callers ask again after a second while the probe is due", () => {
    const { openUntil } = openTimes(0).state
    assert.strictEqual(CircuitBreaker.waitUntil(CircuitBreaker.closed, 5), 0)
    assert.strictEqual(CircuitBreaker.waitUntil(openTimes(0).state, 1000), openUntil)
    assert.strictEqual(CircuitBreaker.waitUntil(openTimes(0).state, openUntil + 7), openUntil + 1007)
  })

  it("opens after three malformed requests within an hour, also with answers between them", () => {
    const defects = (...times: ReadonlyArray<number>) =>
      times.reduce((state, at) => CircuitBreaker.defect(CircuitBreaker.succeeded(state), at), CircuitBreaker.closed)
    assert.isFalse(CircuitBreaker.isOpen(defects(0, 1)))
    assert.isTrue(CircuitBreaker.isOpen(defects(0, 1, hour - 1)))
    assert.isFalse(CircuitBreaker.isOpen(defects(0, 1, hour + 2)))
  })

  it("opens after two sessions in a row whose key cannot be read", () => {
    const first = CircuitBreaker.unreadableKey(CircuitBreaker.closed, 0)
    assert.isFalse(CircuitBreaker.isOpen(first))
    assert.isTrue(CircuitBreaker.isOpen(CircuitBreaker.unreadableKey(CircuitBreaker.succeeded(first), 1)))
    assert.isFalse(CircuitBreaker.isOpen(CircuitBreaker.unreadableKey(CircuitBreaker.readableKey(first), 1)))
  })

  it("opens after blocks of three lanes without an answer between them", () => {
    const blocked = (...nips: ReadonlyArray<string>) =>
      nips.reduce((state, nip) => CircuitBreaker.blocked(state, nip, 0), CircuitBreaker.closed)
    assert.isFalse(CircuitBreaker.isOpen(blocked("1", "2", "2", "1")))
    assert.isTrue(CircuitBreaker.isOpen(blocked("1", "2", "3")))
    assert.isFalse(CircuitBreaker.isOpen(CircuitBreaker.blocked(CircuitBreaker.succeeded(blocked("1", "2")), "3", 0)))
  })
})
