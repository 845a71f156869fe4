/** The schemas of the members of answers. */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A member that may be missing or `null`. */
export const nullable = <S extends Schema.Constraint>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** A whole number that databases and other programs have as an integer of 32 bits: a code, not a time. */
export const Integer = Schema.Number.check(Schema.isInt32())

// A time without an offset would be read as local time.
const parse = (text: string): number => Date.parse(/(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`)

// With its offset, a time that stands for none can be outside of the years that databases and ISO 8601 have.
const earliest = Date.parse("0001-01-01T00:00:00Z")
const latest = Date.UTC(10_000, 0) - 1

/** ISO 8601 as milliseconds since the epoch, in the years 1 to 9999. KSeF writes seven fractional digits, of which three are read. */
export const Time = Schema.String.check(
  Schema.makeFilter((text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(parse(text)))
).pipe(
  Schema.decodeTo(Schema.Number, {
    decode: SchemaGetter.transform((text) => Math.min(Math.max(parse(text), earliest), latest)),
    encode: SchemaGetter.transform((millis) => new Date(millis).toISOString())
  })
)

/** A reference number. Addresses of calls have it as a segment, which is not empty or of dots alone. */
export const Reference = Schema.String.check(Schema.isPattern(/[^.]/))

/** The reference number of a session, `20250625-SO-2F14610000-242991F8C9-B4`: with another one, all that is sent in it would fail. */
export const SessionReference = Schema.String.check(Schema.isPattern(/^[\w-]{1,100}$/))

/** A secret: a token, or a link that is one. It prints and serializes as `<redacted>`. */
export const Secret = Schema.RedactedFromValue(Schema.NonEmptyString)
