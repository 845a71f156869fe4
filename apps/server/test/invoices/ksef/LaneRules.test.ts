import { assert, describe, it } from "@effect/vitest"
import * as LaneRules from "../../../src/invoices/ksef/LaneRules.ts"

const waiting = (count: number, changes: Partial<LaneRules.Waiting> = {}): LaneRules.Waiting => ({
  count,
  bytes: count * 1000,
  by: "any",
  isDatedToday: true,
  ...changes
})
const capacity: LaneRules.SendCapacity = { single: 30, singleAt: 0, batchAt: 0, lastBatchAt: 0 }
const now = 1_000_000
const minute = 60_000
const hour = 60 * minute

describe("LaneRules.route", () => {
  it("sends invoices one by one if the windows have room for them within a minute", () => {
    assert.deepStrictEqual(LaneRules.route(waiting(1), capacity, undefined, now), { _tag: "interactive", count: 1 })
    assert.deepStrictEqual(LaneRules.route(waiting(30), capacity, undefined, now), { _tag: "interactive", count: 30 })
    assert.deepStrictEqual(LaneRules.route(waiting(31), capacity, undefined, now), { _tag: "batch" })
  })

  it("opens a batch that is not full a minute after the last, and a full one at once", () => {
    const recent = { ...capacity, lastBatchAt: now - 1000 }
    assert.deepStrictEqual(LaneRules.route(waiting(31), recent, undefined, now), { _tag: "interactive", count: 30 })
    assert.deepStrictEqual(LaneRules.route(waiting(2000), recent, undefined, now), { _tag: "batch" })
    assert.deepStrictEqual(LaneRules.route(waiting(40, { bytes: 32 * 1024 * 1024 }), recent, undefined, now), {
      _tag: "batch"
    })
  })

  it("waits for the window that opens first", () => {
    const closed = { single: 0, singleAt: now + hour, batchAt: 0, lastBatchAt: now - 1000 }
    assert.deepStrictEqual(LaneRules.route(waiting(31), closed, undefined, now), {
      _tag: "wait",
      until: now - 1000 + minute
    })
    assert.deepStrictEqual(LaneRules.route(waiting(2000), { ...closed, batchAt: now + 5 }, undefined, now), {
      _tag: "wait",
      until: now + 5
    })
  })

  it("sends a document with an attachment in a batch alone, also when it has to wait", () => {
    const attachment = waiting(1, { by: "batch" })
    assert.deepStrictEqual(LaneRules.route(attachment, capacity, undefined, now), { _tag: "batch" })
    assert.deepStrictEqual(LaneRules.route(attachment, { ...capacity, batchAt: now + 9 }, undefined, now), {
      _tag: "wait",
      until: now + 9
    })
  })

  it("opens batches of invoices that are dated today more often in the rush before midnight", () => {
    const recent = { ...capacity, single: 0, singleAt: now + hour, lastBatchAt: now - 1000 }
    const rush = { midnight: now + 4000, openings: 5, isTight: true }
    assert.deepStrictEqual(LaneRules.route(waiting(2), recent, rush, now + 1000), { _tag: "batch" })
    const yesterday = waiting(2, { isDatedToday: false })
    assert.deepStrictEqual(LaneRules.route(yesterday, recent, rush, now + 1000), {
      _tag: "wait",
      until: now - 1000 + minute
    })
    assert.isUndefined(LaneRules.rushAt("2026-11-22T23:44:59.999+01:00", now, () => 60))
    assert.deepStrictEqual(
      LaneRules.rushAt("2026-11-22T23:45:00.000+01:00", now, () => 60),
      { midnight: now + 15 * minute, openings: 60, isTight: false }
    )
  })

  it("shares the openings of a rush out to the organizations whose credentials are accepted", () => {
    const of = (state: "unchecked" | "accepted" | "refused", count: number) =>
      Array.from({ length: count }, () => ({ credential_state: state }))
    assert.strictEqual(LaneRules.shareOf(20, of("accepted", 2)), 10)
    assert.strictEqual(LaneRules.shareOf(20, [...of("accepted", 1), ...of("refused", 20), ...of("unchecked", 20)]), 20)
    assert.strictEqual(LaneRules.shareOf(20, of("unchecked", 20)), 20)
  })
})

describe("the waits of LaneRules", () => {
  it("grow between polls to six hours, and never end", () => {
    assert.deepStrictEqual(
      Array.from({ length: 10 }, (_, count) => LaneRules.pollWait(count, 0) / 1000),
      [0.1, 1, 2, 3, 5, 8, 13, 20, 30, 60]
    )
    assert.strictEqual(LaneRules.pollWait(10, hour - 1), 2 * minute)
    assert.strictEqual(LaneRules.pollWait(40, hour), 15 * minute)
    assert.strictEqual(LaneRules.pollWait(10_000, 400 * 24 * hour), 6 * hour)
  })

  it("begin with 100 ms for up to three invoices that are sent together, and with one second for more", () => {
    const first = (count: number) => LaneRules.pollWait(LaneRules.skippedPolls(count), 0)
    assert.deepStrictEqual([1, 3, 4, 30].map(first), [100, 100, 1000, 1000])
  })

  it("are four of at most half a second for a batch, and then as for other invoices", () => {
    const waits = Array.from({ length: 7 }, (_, count) => LaneRules.batchPollWait(count, 0) / 1000)
    assert.deepStrictEqual(waits, [0.1, 0.2, 0.3, 0.5, 1, 2, 3])
    assert.strictEqual(LaneRules.batchPollWait(10_000, 400 * 24 * hour), 6 * hour)
  })

  it("end for a receipt after a week", () => {
    assert.strictEqual(LaneRules.receiptWait(0, 0), 5000)
    assert.strictEqual(LaneRules.receiptWait(30, 7 * 24 * hour), 6 * hour)
    assert.isUndefined(LaneRules.receiptWait(30, 7 * 24 * hour + 1))
  })

  it("end for an invoice that was not sent with the time to give up, with a last attempt at its end", () => {
    const wait = (attempt: number, firstAttemptAgeMs: number) =>
      LaneRules.retryWait({ attempt, firstAttemptAgeMs, giveUpMs: 168 * hour, random: 0.5 })
    assert.strictEqual(wait(1, 0), 5000)
    assert.strictEqual(wait(20, 10 * hour), 6 * hour)
    assert.strictEqual(wait(20, 167 * hour), hour)
    assert.isUndefined(wait(20, 168 * hour))
  })

  it("end after five resends of a document that KSeF could not process", () => {
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4, 5].map((resends) => LaneRules.resendWait(resends)),
      [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour, undefined]
    )
  })

  it("are 15 minutes, an hour, and then six hours for a refused credential", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 9].map((refusals) => LaneRules.refusalWait(refusals)),
      [15 * minute, hour, 6 * hour, 6 * hour]
    )
    assert.strictEqual(LaneRules.refusalWait(1, "context_blocked"), 6 * hour)
    const rests = [15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 6 * hour, 6 * hour]
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 6, 7].map((blocks) => LaneRules.blockWait(blocks, true)),
      rests
    )
    assert.deepStrictEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((blocks) => LaneRules.blockWait(blocks, false)),
      [2000, 10_000, 30_000, ...rests]
    )
  })
})
