/**
 * Fields for a time have the time zone of the shown times.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { setPreference } from "../src/ui/preferences.ts"
import { awaitedTime, ofField, shortTime, toField, zoneName } from "../src/ui/times.ts"

const noon = Date.parse("2026-07-01T12:00:00Z")
const winter = Date.parse("2026-11-23T12:00:00Z")
const zone = process.env["TZ"]

describe("the field for a time", () => {
  beforeAll(() => {
    process.env["TZ"] = "Europe/Warsaw"
  })
  afterAll(() => {
    setPreference("timeZone", "local")
    if (zone === undefined) delete process.env["TZ"]
    else process.env["TZ"] = zone
  })

  it.each([
    ["local", "14:00"],
    ["utc", "12:00"]
  ] as const)("has the time zone of the preference: %s", (timeZone, clock) => {
    setPreference("timeZone", timeZone)
    assert.strictEqual(toField(noon), `2026-07-01T${clock}`)
    assert.strictEqual(ofField(toField(noon)), noon)
    assert.include(shortTime(noon), clock)
    assert.match(zoneName(noon), timeZone === "utc" ? /^UTC$/ : /^(?:GMT\+2|CEST)$/)
    assert.match(zoneName(winter), timeZone === "utc" ? /^UTC$/ : /^(?:GMT\+1|CET)$/)
  })

  it("has the value NaN when it is empty", () => {
    assert.isNaN(ofField(""))
  })
})

describe("the time of what is awaited", () => {
  it.each([
    [240_000, "in 4 min"],
    [500, "now"],
    [-1, "now"],
    [-240_000, "now"]
  ])("%i ms from now is never in the past", (distance, words) => {
    assert.strictEqual(awaitedTime(noon + distance, noon), words)
  })
})
