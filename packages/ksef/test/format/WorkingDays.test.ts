import { assert, describe, it } from "@effect/vitest"
import { WorkingDays } from "@govoice/ksef/format"

const dayMs = 86_400_000
const daysOf = (year: number): ReadonlyArray<string> =>
  Array.from({ length: 366 }, (_, index) => new Date(Date.UTC(year, 0, 1) + index * dayMs).toISOString().slice(0, 10))
    // Of a year that has 365, the last is of the next one.
    .filter((day) => day.startsWith(String(year)))

const isWeekday = (day: string) => ![0, 6].includes(new Date(day).getUTCDay())

describe("WorkingDays", () => {
  // The holidays that are no Saturday or Sunday.
  it.each([
    [2025, "01-01 01-06 04-21 05-01 06-19 08-15 11-11 12-24 12-25 12-26"],
    [2026, "01-01 01-06 04-06 05-01 06-04 11-11 12-24 12-25"],
    [2027, "01-01 01-06 03-29 05-03 05-27 11-01 11-11 12-24"],
    [2028, "01-06 04-17 05-01 05-03 06-15 08-15 11-01 12-25 12-26"]
  ])("knows the holidays of %i", (year, wanted) => {
    const holidays = daysOf(year).filter((day) => isWeekday(day) && !WorkingDays.isWorkingDay(day))
    assert.strictEqual(holidays.map((day) => day.slice(5)).join(" "), wanted)
  })

  // Among them the earliest and the latest, and years in which the epact has an exception.
  it.each([
    ["2024-04-01"],
    ["2029-04-02"],
    ["2030-04-22"],
    ["2035-03-26"],
    ["2038-04-26"],
    ["2049-04-19"],
    ["2076-04-20"]
  ])("knows that %s is Easter Monday", (day) => {
    assert.isFalse(WorkingDays.isWorkingDay(day))
    assert.isTrue(WorkingDays.isWorkingDay(new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)))
  })

  it.each([
    ["a Tuesday", "2026-11-24", "2026-11-25"],
    ["a Friday", "2026-11-27", "2026-11-30"],
    ["a Saturday", "2026-11-28", "2026-11-30"],
    ["a Sunday", "2026-11-29", "2026-11-30"],
    ["the day before a holiday", "2026-11-10", "2026-11-12"],
    ["the day before Christmas Eve", "2026-12-23", "2026-12-28"],
    ["the last day of a year", "2026-12-31", "2027-01-04"],
    ["Maundy Thursday", "2026-04-02", "2026-04-03"],
    ["Good Friday, which is a working day", "2026-04-03", "2026-04-07"],
    ["the day before Corpus Christi", "2026-06-03", "2026-06-05"],
    ["28 February of a leap year", "2028-02-28", "2028-02-29"]
  ])("returns the working day after %s", (_, day, wanted) => {
    assert.strictEqual(WorkingDays.next(day), wanted)
  })
})
