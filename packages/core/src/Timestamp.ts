/**
 * Points in time as they stand in JSON.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * ISO 8601 in UTC with milliseconds and `Z`, such as `2026-11-20T09:00:00.000Z`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Timestamp = Schema.String.check(
  Schema.isPattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
).annotate({
  description: "ISO 8601 in UTC with milliseconds.",
  format: "date-time",
  examples: ["2026-11-20T09:00:00.000Z"]
})
