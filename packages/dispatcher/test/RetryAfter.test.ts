import { assert, describe, it } from "@effect/vitest"
import { maxRetryAfterMs, parseRetryAfter } from "@govoice/dispatcher"
import * as fc from "fast-check"

/** Sunday, 6 November 1994, 08:49:37 UTC: the date of the examples in RFC 9110. */
const then = 784_111_777_000

describe("parseRetryAfter", () => {
  for (const [value, expected] of [
    ["0", 0],
    ["1", 1_000],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["007", 7_000],
    ["21600", 21_600_000],
    ["21601", maxRetryAfterMs],
    ["9".repeat(60), maxRetryAfterMs]
  ] as const) {
    it(`reads seconds: ${JSON.stringify(value)}`, () => {
      assert.strictEqual(parseRetryAfter(value, then), expected)
    })
  }

  for (const [what, value] of [
    ["IMF-fixdate", "Sun, 06 Nov 1994 08:49:37 GMT"],
    ["the form of RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT"],
    ["the form of asctime", "Sun Nov  6 08:49:37 1994"]
  ] as const) {
    it(`reads a date in ${what}`, () => {
      assert.strictEqual(parseRetryAfter(value, then - 30_000), 30_000)
      assert.strictEqual(parseRetryAfter(value, then), 0)
      assert.strictEqual(parseRetryAfter(value, then + 1_000), 0)
      assert.strictEqual(parseRetryAfter(value, 0), maxRetryAfterMs)
    })
  }

  it("reads a year of two digits more than 50 years ahead as past", () => {
    const now = Date.UTC(2026, 10, 20)
    assert.strictEqual(parseRetryAfter("Friday, 20-Nov-26 00:00:30 GMT", now), 30_000)
    assert.strictEqual(parseRetryAfter("Friday, 20-Nov-76 00:00:30 GMT", now), maxRetryAfterMs)
    assert.strictEqual(parseRetryAfter("Friday, 20-Nov-77 00:00:30 GMT", now), 0)
  })

  it("reads a leap second", () => {
    assert.strictEqual(parseRetryAfter("Sat, 31 Dec 2016 23:59:60 GMT", Date.UTC(2016, 11, 31, 23, 59, 59)), undefined)
    assert.strictEqual(parseRetryAfter("Thu, 30 Jun 2016 12:30:60 GMT", Date.UTC(2016, 5, 30, 12, 30, 59)), 1_000)
  })

  for (const value of [
    "",
    " ",
    "soon",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "1 2",
    "1,2",
    "120s",
    "１２",
    "Infinity",
    "NaN",
    "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 31 Feb 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 25:49:37 GMT",
    "Sun, 06 Nov 1994 08:61:37 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Xyz, 06 Nov 1994 08:49:37 GMT",
    "2027",
    "9".repeat(65)
  ]) {
    it(`returns undefined for ${JSON.stringify(value)}, unless it is seconds`, () => {
      assert.strictEqual(parseRetryAfter(value, then), value === "2027" ? 2_027_000 : undefined)
    })
  }

  it("returns a wait within its limits, or undefined, for any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.date({ noInvalidDate: true }), (value, now) => {
        const wait = parseRetryAfter(value, now.getTime())
        assert.isTrue(wait === undefined || (wait >= 0 && wait <= maxRetryAfterMs))
      }),
      { numRuns: 2_000 }
    )
  })

  it("agrees with Node on every date that Node writes", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31T23:59:59Z"), noInvalidDate: true }), (date) => {
        const whole = Math.floor(date.getTime() / 1_000) * 1_000
        assert.strictEqual(parseRetryAfter(date.toUTCString(), whole - 5_000), 5_000)
      }),
      { numRuns: 2_000 }
    )
  })
})
