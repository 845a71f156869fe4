/**
 * Lists: pages of records, newest first unless asked otherwise, with an opaque cursor.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

/**
 * The maximum and the default number of records of a page.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { max: 100, default: 50 } as const

const outOfRange = { message: `must be an integer from 1 to ${limits.max}` }

// Decimal digits only: Number() also accepts 1e1, +10, 010 and 0xa.
const limit = Schema.String.check(Schema.isPattern(/^[1-9][0-9]{0,2}$/u, outOfRange)).pipe(
  Schema.decodeTo(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limits.max }, outOfRange)),
    SchemaTransformation.numberFromString
  )
)

/**
 * The JSON Schema of `limit`. The derived one is a string, because query parameters are strings.
 *
 * @category constants
 * @since 0.1.0
 */
export const limitJsonSchema = { type: "integer", minimum: 1, maximum: limits.max, default: limits.default } as const

/**
 * The query parameters of every list.
 *
 * @category schemas
 * @since 0.1.0
 */
export const pageQuery = {
  limit: Schema.optionalKey(limit),
  cursor: Schema.optionalKey(
    Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" })).annotate({
      description: "The `next_cursor` of the previous page. Valid only for the same list with the same filters."
    })
  )
}

/**
 * The query parameters that limit a list to records of a time.
 *
 * @category schemas
 * @since 0.1.0
 */
export const timeQuery = {
  created_after: Schema.optionalKey(
    Timestamp.TimestampInput.annotate({ description: "Only records that were created at this time or later." })
  ),
  created_before: Schema.optionalKey(
    Timestamp.TimestampInput.annotate({ description: "Only records that were created before this time." })
  )
}

/**
 * The orders of a list by the time of its records: `asc` is oldest first.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Order = Schema.Literals(["asc", "desc"])

/**
 * Type of a decoded `Order`.
 *
 * @category models
 * @since 0.1.0
 */
export type Order = typeof Order.Type

/**
 * The query parameter of a list that can be followed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const orderQuery = {
  order: Schema.optionalKey(
    Order.annotate({
      description:
        "`asc` for the oldest first, `desc` (the default) for the newest first. In ascending order, the last page has a `next_cursor` too: pass it later to get the records created since."
    })
  )
}

/**
 * The query parameters that limit a list to records with these values in their metadata. `MetadataFilter` gathers them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const metadataQuery = {
  metadata: Schema.optionalKey(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))
}

/**
 * Returns the schema of a page of records.
 *
 * @category schemas
 * @since 0.1.0
 */
export const page = <S extends Schema.Top>(identifier: string, item: S) =>
  Schema.Struct({
    object: Schema.Literal("list"),
    data: Schema.Array(item),
    has_more: Schema.Boolean.annotate({ description: "Whether the list has another page now." }),
    next_cursor: Schema.NullOr(Schema.String).annotate({
      description: "The cursor of the next page. Null on the last page, unless the order is ascending."
    })
  }).annotate({ identifier, description: "A page of records, newest first unless `order` is `asc`." })
