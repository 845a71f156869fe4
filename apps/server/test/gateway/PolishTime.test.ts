import { assert, describe, it } from "@effect/vitest"
import * as PolishTime from "../../src/gateway/sandbox/PolishTime.ts"

describe("PolishTime", () => {
  it.each([
    ["in winter", "2026-11-20T08:15:30.045Z", "2026-11-20T09:15:30.045+01:00", "20261120"],
    ["in summer", "2026-07-01T12:00:00.000Z", "2026-07-01T14:00:00.000+02:00", "20260701"],
    ["a second before a day begins in winter", "2026-11-20T22:59:59.999Z", "2026-11-20T23:59:59.999+01:00", "20261120"],
    ["when a day begins in winter", "2026-11-20T23:00:00.000Z", "2026-11-21T00:00:00.000+01:00", "20261121"],
    ["when a day begins in summer", "2026-06-30T22:00:00.000Z", "2026-07-01T00:00:00.000+02:00", "20260701"],
    ["when a year begins", "2026-12-31T23:00:00.000Z", "2027-01-01T00:00:00.000+01:00", "20270101"],
    ["before the clocks go forward", "2026-03-29T00:59:59.999Z", "2026-03-29T01:59:59.999+01:00", "20260329"],
    ["after the clocks go forward", "2026-03-29T01:00:00.000Z", "2026-03-29T03:00:00.000+02:00", "20260329"],
    ["before the clocks go back", "2026-10-25T00:30:00.000Z", "2026-10-25T02:30:00.000+02:00", "20261025"],
    ["after the clocks go back", "2026-10-25T01:30:00.000Z", "2026-10-25T02:30:00.000+01:00", "20261025"],
    ["on a leap day", "2028-02-29T12:00:00.000Z", "2028-02-29T13:00:00.000+01:00", "20280229"]
  ])("writes a moment %s", (_, utc, polish, day) => {
    const millis = Date.parse(utc)
    assert.strictEqual(PolishTime.timestamp(millis), polish)
    assert.strictEqual(PolishTime.day(millis), polish.slice(0, 10))
    assert.strictEqual(PolishTime.compactDay(millis), day)
    assert.strictEqual(Date.parse(PolishTime.timestamp(millis)), millis)
  })
})
