import { assert, describe, it } from "@effect/vitest"
import * as Breaker from "../../../../src/invoices/live/ksef/Breaker.ts"

const second = 1000
const hour = 3_600_000

const failures = (count: number, everyMs: number, from = Breaker.closed) =>
  Array.from({ length: count }, (_, index) => index * everyMs).reduce((state, at) => Breaker.failed(state, at), from)

/** Opens it by as many probes that failed, each as soon as it may be made. */
const openTimes = (probes: number) => {
  let state = failures(10, 100)
  const waits = [state.openUntil - 900]
  for (let probe = 0; probe < probes; probe++) {
    const at = state.openUntil
    state = Breaker.failed(state, at, true)
    waits.push(state.openUntil - at)
  }
  return { state, waits }
}

describe("Breaker", () => {
  it("opens after ten failures in a row within a minute", () => {
    assert.isFalse(Breaker.isOpen(failures(9, 100)))
    assert.isTrue(Breaker.isOpen(failures(10, 6000)))
    assert.isFalse(Breaker.isOpen(failures(10, 7000)), "more than a minute")
  })

  it("starts to count again after an answer", () => {
    const answered = Breaker.succeeded(failures(9, 100))
    assert.isFalse(Breaker.isOpen(failures(9, 100, answered)))
  })

  it("stays open for 15 seconds, doubling to five minutes with each probe that fails", () => {
    assert.deepStrictEqual(
      openTimes(6).waits,
      [15, 30, 60, 120, 240, 300, 300].map((seconds) => seconds * second)
    )
  })

  it("ignores calls that began before it opened: the probe alone decides", () => {
    const { state } = openTimes(2)
    assert.deepStrictEqual(Breaker.failed(state, state.openUntil + 1), state)
    assert.deepStrictEqual(Breaker.succeeded(state), state)
    assert.deepStrictEqual(Breaker.succeeded(state, true), Breaker.closed)
  })

  it("has callers look again a second later while the probe is due", () => {
    const { openUntil } = openTimes(0).state
    assert.strictEqual(Breaker.waitUntil(Breaker.closed, 5), 0)
    assert.strictEqual(Breaker.waitUntil(openTimes(0).state, 1000), openUntil)
    assert.strictEqual(Breaker.waitUntil(openTimes(0).state, openUntil + 7), openUntil + 1007)
  })

  it("opens after three malformed requests within an hour, also with answers between them", () => {
    const defects = (...times: ReadonlyArray<number>) =>
      times.reduce((state, at) => Breaker.defect(Breaker.succeeded(state), at), Breaker.closed)
    assert.isFalse(Breaker.isOpen(defects(0, 1)))
    assert.isTrue(Breaker.isOpen(defects(0, 1, hour - 1)))
    assert.isFalse(Breaker.isOpen(defects(0, 1, hour + 2)))
  })

  it("opens after two sessions in a row whose key cannot be read", () => {
    const first = Breaker.unreadableKey(Breaker.closed, 0)
    assert.isFalse(Breaker.isOpen(first))
    assert.isTrue(Breaker.isOpen(Breaker.unreadableKey(Breaker.succeeded(first), 1)))
    assert.isFalse(Breaker.isOpen(Breaker.unreadableKey(Breaker.readableKey(first), 1)))
  })

  it("opens after blocks of three lanes without an answer between them", () => {
    const blocked = (...nips: ReadonlyArray<string>) =>
      nips.reduce((state, nip) => Breaker.blocked(state, nip, 0), Breaker.closed)
    assert.isFalse(Breaker.isOpen(blocked("1", "2", "2", "1")))
    assert.isTrue(Breaker.isOpen(blocked("1", "2", "3")))
    assert.isFalse(Breaker.isOpen(Breaker.blocked(Breaker.succeeded(blocked("1", "2")), "3", 0)))
  })
})
