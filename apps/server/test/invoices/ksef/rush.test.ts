/**
 * The evening of a taxpayer, simulated with the rules and the windows of a lane: invoices come until midnight at a steady rate.
 *
 * A document is avoidably late if it came before the last batch that could still be opened: it is sent a day late although nobody
 * had to wait for it.
 */
import { assert, describe, it } from "@effect/vitest"
import { PolishTime } from "@govoice/ksef/format"
import * as LaneRules from "../../../src/invoices/ksef/LaneRules.ts"
import { RateLimitWindows } from "../../../src/invoices/ksef/RateLimitWindows.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute

const midnight = Date.parse("2026-11-23T00:00:00+01:00")
/** What calls take, of one document, and of a batch: building the archive, opening the session, uploading and closing. */
const timesOf = (callMs: number) => {
  const batchMs = { untilOpen: callMs + 200, all: 3 * callMs + 1600 }
  // The step of the lane does one after the other.
  return { callMs, batchMs, avoidableMs: Math.max(batchMs.all, callMs) + batchMs.untilOpen }
}

/** Returns how many documents were avoidably late, and how many batches were opened in the last quarter of an hour. */
const evening = (
  perMinute: number,
  since: number,
  { avoidableMs, batchMs, callMs } = timesOf(300),
  documents = Infinity
) => {
  const windows = new RateLimitWindows({}, { used: {}, blocked: {} })
  const arrivals: Array<number> = []
  for (let at = midnight - since; at < midnight && arrivals.length < documents; at += minute / perMinute)
    arrivals.push(at)
  let now = midnight - since
  let arrived = 0
  let sent = 0
  let batchesAtEnd = 0
  const late: Array<number> = []
  const end = (group: "invoiceSend" | "batchSession", at: number) => {
    windows.begin(group)
    windows.end(group, at, true)
  }
  while (sent < arrivals.length && now < midnight + 2 * hour) {
    while (arrived < arrivals.length && arrivals[arrived]! <= now) arrived += 1
    const count = Math.min(arrived - sent, LaneRules.batch.maxDocuments)
    if (count === 0) {
      now = arrivals[arrived] ?? Infinity
      continue
    }
    const rush = LaneRules.rushAt(PolishTime.timestamp(now), now, (untilMs, options) =>
      windows.capacity("batchSession", now, untilMs, options)
    )
    const capacity = {
      single: Math.min(
        windows.capacity("invoiceSend", now, LaneRules.singlyWithin(rush, now)),
        LaneRules.fitting(LaneRules.singlyWithin(rush, now), callMs)
      ),
      singleAt: windows.earliest("invoiceSend", now),
      batchAt: windows.earliest("batchSession", now),
      lastBatchAt: windows.lastEnd("batchSession")
    }
    const waiting = { by: "any", count, bytes: count * 1400, isDatedToday: now < midnight } as const
    const route = LaneRules.route(waiting, capacity, rush, now)
    const handOver = (documents: number, at: number) => {
      for (const arrival of arrivals.slice(sent, sent + documents)) {
        if (at >= midnight && arrival <= midnight - avoidableMs) late.push(arrival)
      }
      sent += documents
    }
    if (route._tag === "wait") {
      // A document that comes wakes the lane.
      const until = Math.min(route.until, arrivals[arrived] ?? Infinity)
      assert.isAbove(until, now, "a wait is for a time to come")
      now = until
    } else if (route._tag === "batch") {
      if (now > midnight - 15 * minute) batchesAtEnd += 1
      end("batchSession", now + batchMs.untilOpen)
      handOver(count, now + batchMs.untilOpen)
      now += batchMs.all
    } else {
      end("invoiceSend", now + callMs)
      handOver(1, now + callMs)
      now += callMs
    }
  }
  return { late: late.length, batchesAtEnd, unsent: arrivals.length - sent }
}

// The long tests try all. A high rate takes most of the time.
const rates =
  process.env["RATES"] === "all"
    ? [1, 2, 3, 5, 7, 10, 20, 25, 30, 31, 45, 60, 90, 100, 150, 200, 300, 500, 750, 1000]
    : [1, 5, 30, 31, 60, 150]

describe("the rush before midnight", () => {
  for (const [name, since] of [
    ["since 23:40", 20 * minute],
    ["since 22:30", 90 * minute],
    ["since 18:00", 6 * hour]
  ] as const) {
    it(`has no invoice avoidably late that comes ${name}, at any rate`, () => {
      for (const perMinute of rates) {
        const { late, unsent } = evening(perMinute, since)
        assert.strictEqual(late, 0, `at ${perMinute} a minute`)
        assert.strictEqual(unsent, 0, `at ${perMinute} a minute`)
      }
    })
  }

  it("has no invoice avoidably late where KSeF is slow", () => {
    for (const seconds of [1, 2, 5, 10, 15]) {
      for (const perMinute of rates) {
        const { late, unsent } = evening(perMinute, 20 * minute, timesOf(seconds * second))
        assert.deepStrictEqual([late, unsent], [0, 0], `${seconds} s a call, at ${perMinute} a minute`)
      }
    }
  })

  it("has none avoidably late of those that come together at the end of the day", () => {
    for (const seconds of [1, 2, 5, 10, 15]) {
      const times = timesOf(seconds * second)
      for (const documents of [2, 5, 10, 28, 60]) {
        const { late } = evening(documents * 600, times.avoidableMs + 100, times, documents)
        assert.strictEqual(late, 0, `${documents} documents, ${seconds} s a call`)
      }
    }
  })

  it("opens no more batches than the limits of an hour leave", () => {
    const { batchesAtEnd } = evening(300, 90 * minute)
    assert.isAtLeast(batchesAtEnd, 5)
    assert.isAtMost(batchesAtEnd, 60)
  })
})
