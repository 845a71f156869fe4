/** The schemas of the members of answers. */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A member that may be missing or `null`. */
export const nullable = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** A whole number that databases and other programs have as an integer of 32 bits: a code, not a time. */
export const Integer = Schema.Number.check(Schema.isInt32())

// A time without an offset would be read as local time.
const parse = (text: string): number => Date.parse(/(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`)

/** ISO 8601 as milliseconds since the epoch. KSeF writes seven fractional digits, of which three are read. */
export const Time = Schema.String.check(
  Schema.makeFilter((text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(parse(text)))
).pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transform(parse),
    encode: SchemaGetter.transform((millis) => new Date(millis).toISOString())
  })
)

/** A secret: a token, or a link that is one. It prints and serializes as `<redacted>`. */
export const Secret = Schema.RedactedFromValue(Schema.NonEmptyString)
