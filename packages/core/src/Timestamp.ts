/**
 * Schemas of timestamps in JSON.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

// The pattern does not check the length of the month.
const isExistingDate = (text: string): boolean => {
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString() === text
}

/**
 * A timestamp in ISO 8601, UTC, with milliseconds and `Z`, such as `2026-11-20T09:00:00.000Z`. The date must exist.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Timestamp = Schema.String.annotate({
  description: "ISO 8601 in UTC with milliseconds.",
  format: "date-time",
  examples: ["2026-11-20T09:00:00.000Z"]
}).check(
  // Effect puts a pattern into the JSON Schema only if it has the flag `u`.
  Schema.isPattern(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/u),
  Schema.makeFilter(isExistingDate, { expected: "a date that exists" })
)

/**
 * A timestamp in a request: ISO 8601 in UTC, with or without a fraction of the second.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TimestampInput = Schema.String.annotate({
  description: "ISO 8601 in UTC.",
  format: "date-time",
  examples: ["2026-11-20T09:00:00Z"]
}).check(
  Schema.isPattern(
    /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/u,
    { expected: "a time in ISO 8601, in UTC, such as 2026-11-20T09:00:00Z" }
  ),
  Schema.makeFilter((text: string) => isExistingDate(`${text.slice(0, 19)}.000Z`), {
    expected: "a date that exists"
  })
)
