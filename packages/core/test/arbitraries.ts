/**
 * Arbitraries of the property tests of this package.
 */
import { Arbitrary, Schema } from "effect"

/** 2,000 runs: 100 runs missed faults that 2,000 found. */
export const thorough = { arbitrary: { runs: 2000 } }

// prettier-ignore
const fragments: ReadonlyArray<string> = [
  "a", "b", "1", "10", " ", "", "é", "€", "😀", "e\u0301", "\u200d", "\ufeff", "\u00a0", "\u2028",
  '"', '","', '"]', "\\", '\\"', "[", "]", "{", "}", ",", ":", "null", "\n", "\\u0000", "<a/>", "&amp;",
  "\u0000", "\ud83d", "\ude00", "\ud800", "\udfff", "__proto__", "constructor", "toString"
]

/** Strings of fragments that are often mistaken for structure or have more than one length. */
export const hostileText = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(fragments)), { maxLength: 6 }),
  (parts) => parts.join("")
)

/** Any sequence of UTF-16 code units, unpaired surrogates included. */
export const codeUnits = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(
      Schema.Union([
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff })),
        Schema.Int.check(Schema.isBetween({ minimum: 0xd800, maximum: 0xdfff }))
      ])
    ),
    { maxLength: 12 }
  ),
  (units) => String.fromCharCode(...units)
)

/** Sixteen random bytes. */
export const bytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
    minLength: 16,
    maxLength: 16
  }),
  (values) => Uint8Array.from(values)
)

/** An object as `JSON.parse` returns it: `__proto__` is an ordinary member. */
export const record = <A>(entries: ReadonlyArray<readonly [string, A]>): Record<string, A> => {
  const object: Record<string, A> = {}
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return object
}

/**
 * Writes a value as JSON and reads it back. A name with an escape is copied in its place: V8 12.8 to 14.6 can read it as
 * another one (https://github.com/nodejs/node/issues/63785).
 */
export const throughJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return /[{,]"[^"\\]*\\/.test(text) ? structuredClone(value) : (JSON.parse(text) as unknown)
}
