/**
 * Points in time as they stand in JSON.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

// The pattern leaves open how long the month is.
const isOfTheCalendar = (text: string): boolean => {
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString() === text
}

/**
 * ISO 8601 in UTC with milliseconds and `Z`, such as `2026-11-20T09:00:00.000Z`. The day has to exist: there is no
 * 30th of February.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Timestamp = Schema.String.annotate({
  description: "ISO 8601 in UTC with milliseconds.",
  format: "date-time",
  examples: ["2026-11-20T09:00:00.000Z"]
}).check(
  // Without the flag `u` a pattern does not reach the JSON Schema.
  Schema.isPattern(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/u),
  Schema.makeFilter(isOfTheCalendar, { expected: "a day of the calendar" })
)

/**
 * A point in time as a caller may give it: ISO 8601 in UTC, with or without a fraction of the second.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Instant = Schema.String.annotate({
  description: "ISO 8601 in UTC.",
  format: "date-time",
  examples: ["2026-11-20T09:00:00Z"]
}).check(
  Schema.isPattern(
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/u,
    { expected: "a time in ISO 8601, in UTC, such as 2026-11-20T09:00:00Z" }
  ),
  Schema.makeFilter((text: string) => isOfTheCalendar(`${text.slice(0, 19)}.000Z`), {
    expected: "a day of the calendar"
  })
)
