import { assert, describe, it } from "@effect/vitest"
import { PolishTime } from "@govoice/ksef/format"
import * as fc from "fast-check"

describe("PolishTime", () => {
  it.each([
    ["in winter", "2026-11-20T08:15:30.045Z", "2026-11-20T09:15:30.045+01:00", "20261120"],
    ["in summer", "2026-07-01T12:00:00.000Z", "2026-07-01T14:00:00.000+02:00", "20260701"],
    ["a second before midnight in winter", "2026-11-20T22:59:59.999Z", "2026-11-20T23:59:59.999+01:00", "20261120"],
    ["at midnight in winter", "2026-11-20T23:00:00.000Z", "2026-11-21T00:00:00.000+01:00", "20261121"],
    ["at midnight in summer", "2026-06-30T22:00:00.000Z", "2026-07-01T00:00:00.000+02:00", "20260701"],
    ["at the turn of the year", "2026-12-31T23:00:00.000Z", "2027-01-01T00:00:00.000+01:00", "20270101"],
    ["before the clocks go forward", "2026-03-29T00:59:59.999Z", "2026-03-29T01:59:59.999+01:00", "20260329"],
    ["after the clocks go forward", "2026-03-29T01:00:00.000Z", "2026-03-29T03:00:00.000+02:00", "20260329"],
    ["before the clocks go back", "2026-10-25T00:30:00.000Z", "2026-10-25T02:30:00.000+02:00", "20261025"],
    ["after the clocks go back", "2026-10-25T01:30:00.000Z", "2026-10-25T02:30:00.000+01:00", "20261025"],
    ["on a leap day", "2028-02-29T12:00:00.000Z", "2028-02-29T13:00:00.000+01:00", "20280229"]
  ])("formats a time %s", (_, utc, polish, day) => {
    const millis = Date.parse(utc)
    assert.strictEqual(PolishTime.timestamp(millis), polish)
    assert.strictEqual(PolishTime.day(millis), polish.slice(0, 10))
    assert.strictEqual(PolishTime.compactDay(millis), day)
  })

  it("formats every time so that it is read back unchanged, one or two hours ahead of UTC", () => {
    const times = fc.integer({ min: Date.parse("2020-01-01T00:00:00Z"), max: Date.parse("2060-01-01T00:00:00Z") })
    fc.assert(
      fc.property(times, (millis) => {
        const text = PolishTime.timestamp(millis)
        assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0[12]:00$/)
        assert.strictEqual(Date.parse(text), millis)
      })
    )
  })
})
