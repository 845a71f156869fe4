/**
 * Lists: newest first, a page at a time, continued by an opaque cursor.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * How many records a page may have, and has when nothing is said.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { max: 100, default: 50 } as const

/**
 * The query parameters of every list.
 *
 * @category schemas
 * @since 0.1.0
 */
export const pageQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.max })).annotate({
      description: `How many records to return, 1 to ${limits.max}. Defaults to ${limits.default}.`
    })
  ),
  cursor: Schema.optionalKey(
    Schema.NonEmptyString.annotate({
      description: "The `next_cursor` of the page before. Valid for the same list and the same filters only."
    })
  )
}

/**
 * The schema of a page of records.
 *
 * @category schemas
 * @since 0.1.0
 */
export const page = <S extends Schema.Top>(identifier: string, item: S) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(item),
    has_more: Schema.Boolean.annotate({ description: "Whether older records exist." }),
    next_cursor: Schema.NullOr(Schema.String).annotate({ description: "Continues the list; null on the last page." })
  }).annotate({ identifier, description: "A page of records, newest first." })
