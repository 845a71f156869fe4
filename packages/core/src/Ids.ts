/**
 * Public identifiers: a prefix that names the kind of thing, and 26 characters that sort by age.
 *
 * The 26 characters are a UUID of version 7 (RFC 9562 §5.7: 48 bits of milliseconds, then random bits) in
 * Crockford's base32, lowercase. Nothing here reads a clock or a source of randomness: both are arguments.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The prefix of every kind of identifier.
 *
 * @category constants
 * @since 0.1.0
 */
export const prefixes = {
  account: "acct",
  organization: "org",
  apiKey: "key",
  invoice: "inv",
  event: "evt",
  endpoint: "we",
  delivery: "wd",
  request: "req"
} as const

/**
 * One of the `prefixes`.
 *
 * @category models
 * @since 0.1.0
 */
export type Prefix = (typeof prefixes)[keyof typeof prefixes]

/**
 * An identifier with the prefix `P`. The compiler keeps the kinds apart.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<P extends Prefix> = `${P}_${string}`

export type AccountId = Id<"acct">
export type OrganizationId = Id<"org">
export type ApiKeyId = Id<"key">
export type InvoiceId = Id<"inv">
export type EventId = Id<"evt">
export type EndpointId = Id<"we">
export type DeliveryId = Id<"wd">
export type RequestId = Id<"req">

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** How many random bytes `make` takes. */
export const randomLength = 10

/**
 * Makes an identifier.
 *
 * **Details**
 *
 * `timestamp` is in milliseconds since the epoch; `random` has at least `randomLength` bytes, of which six bits are
 * replaced by the version and the variant of the UUID.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <P extends Prefix>(prefix: P, timestamp: number, random: Uint8Array): Id<P> => {
  let text = ""
  let rest = Math.floor(timestamp)
  for (let position = 0; position < 10; position++) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  for (let offset = 0; offset < randomLength; offset += 5) {
    text += fiveBytes(
      offset === 0 ? 0x70 | (random[0]! & 0x0f) : random[5]!,
      random[offset + 1]!,
      offset === 0 ? 0x80 | (random[2]! & 0x3f) : random[7]!,
      random[offset + 3]!,
      random[offset + 4]!
    )
  }
  return `${prefix}_${text}`
}

const fiveBytes = (a: number, b: number, c: number, d: number, e: number): string =>
  alphabet.charAt(a >> 3) +
  alphabet.charAt(((a & 7) << 2) | (b >> 6)) +
  alphabet.charAt((b >> 1) & 31) +
  alphabet.charAt(((b & 1) << 4) | (c >> 4)) +
  alphabet.charAt(((c & 15) << 1) | (d >> 7)) +
  alphabet.charAt((d >> 2) & 31) +
  alphabet.charAt(((d & 3) << 3) | (e >> 5)) +
  alphabet.charAt(e & 31)

const pattern = (prefix: Prefix): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

const patterns = Object.fromEntries(Object.values(prefixes).map((prefix) => [prefix, pattern(prefix)])) as {
  readonly [P in Prefix]: RegExp
}

/**
 * Tells whether `value` has the form of an identifier with this prefix.
 *
 * **When to use**
 *
 * Use before an identifier from outside reaches a statement: whatever is not of the form cannot exist.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = <P extends Prefix>(prefix: P, value: string): value is Id<P> => patterns[prefix].test(value)

/**
 * Reads the milliseconds since the epoch out of a well-formed identifier.
 *
 * @category getters
 * @since 0.1.0
 */
export const timestamp = (id: Id<Prefix>): number => {
  let milliseconds = 0
  const start = id.lastIndexOf("_") + 1
  for (const character of id.slice(start, start + 10)) {
    milliseconds = milliseconds * 32 + alphabet.indexOf(character)
  }
  return milliseconds
}

const example = new Uint8Array([1, 142, 3, 91, 77, 201, 6, 250, 18, 99])

/**
 * The schema of an identifier with this prefix, as it stands in JSON.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schema = <P extends Prefix>(prefix: P) =>
  Schema.String.check(Schema.isPattern(patterns[prefix])).pipe(
    Schema.refine((value: string): value is Id<P> => is(prefix, value)),
    Schema.annotate({ examples: [make(prefix, 1_795_000_000_000, example)] })
  )
