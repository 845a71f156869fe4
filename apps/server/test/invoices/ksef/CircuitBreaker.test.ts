import { assert, describe, it } from "@effect/vitest"
import { CircuitBreaker } from "../../../src/invoices/ksef/CircuitBreaker.ts"

const second = 1000
const hour = 3_600_000

const fail = (breaker: CircuitBreaker, count: number, everyMs: number) => {
  for (let index = 0; index < count; index++) breaker.failed(index * everyMs, false, 0)
}

const failures = (count: number, everyMs: number) => {
  const breaker = new CircuitBreaker()
  fail(breaker, count, everyMs)
  return breaker
}

/** Opens it by as many probes that failed, each as soon as it may be made. */
const openTimes = (probes: number) => {
  const breaker = failures(10, 100)
  const waits = [breaker.openUntil - 900]
  for (let probe = 0; probe < probes; probe++) {
    const at = breaker.openUntil
    breaker.failed(at, true, 0)
    waits.push(breaker.openUntil - at)
  }
  return { breaker, waits }
}

describe("CircuitBreaker", () => {
  it("opens after ten failures in a row within a minute", () => {
    assert.isFalse(failures(9, 100).isOpen)
    assert.isTrue(failures(10, 6000).isOpen)
    assert.isFalse(failures(10, 7000).isOpen, "more than a minute")
  })

  it("starts to count again after an answer", () => {
    const breaker = failures(9, 100)
    breaker.succeeded(false)
    fail(breaker, 9, 100)
    assert.isFalse(breaker.isOpen)
  })

  it("stays open for 15 seconds after each probe that fails", () => {
    assert.deepStrictEqual(openTimes(6).waits, Array(7).fill(15 * second))
  })

  it("stays open for as long as KSeF asked for, if that is longer", () => {
    const breaker = failures(9, 100)
    breaker.failed(900, false, hour)
    assert.strictEqual(breaker.openUntil, hour)
  })

  it("ignores calls that began before it opened, so that only the probe closes it", () => {
    const { breaker } = openTimes(2)
    const { openUntil } = breaker
    breaker.failed(openUntil + 1, false, 0)
    breaker.succeeded(false)
    assert.isTrue(breaker.isOpen)
    assert.strictEqual(breaker.openUntil, openUntil)
    breaker.succeeded(true)
    assert.isFalse(breaker.isOpen)
    assert.strictEqual(breaker.openUntil, 0)
  })

  it("lets callers ask again after a second while the probe is due", () => {
    assert.strictEqual(new CircuitBreaker().waitUntil(5), 0)
    const { breaker } = openTimes(0)
    const { openUntil } = breaker
    assert.strictEqual(breaker.waitUntil(1000), openUntil)
    assert.strictEqual(breaker.waitUntil(openUntil + 7), openUntil + 1007)
  })

  it("opens after three malformed requests within an hour, also with answers between them", () => {
    const defects = (...times: ReadonlyArray<number>) => {
      const breaker = new CircuitBreaker()
      for (const at of times) {
        breaker.succeeded(false)
        breaker.defect(at)
      }
      return breaker
    }
    assert.isFalse(defects(0, 1).isOpen)
    assert.isTrue(defects(0, 1, hour - 1).isOpen)
    assert.isFalse(defects(0, 1, hour + 2).isOpen)
  })

  it("opens after two sessions in a row whose key cannot be read", () => {
    const breaker = new CircuitBreaker()
    breaker.unreadableKey(0)
    breaker.readableKey()
    breaker.unreadableKey(1)
    assert.isFalse(breaker.isOpen)
    breaker.succeeded(false)
    breaker.unreadableKey(2)
    assert.isTrue(breaker.isOpen)
  })

  it("opens after blocks of three lanes without an answer between them", () => {
    const blocked = (...nips: ReadonlyArray<string>) => {
      const breaker = new CircuitBreaker()
      for (const nip of nips) breaker.blocked(nip, 0)
      return breaker
    }
    assert.isFalse(blocked("1", "2", "2", "1").isOpen)
    assert.isTrue(blocked("1", "2", "3").isOpen)
    const answered = blocked("1", "2")
    answered.succeeded(false)
    answered.blocked("3", 0)
    assert.isFalse(answered.isOpen)
  })
})
