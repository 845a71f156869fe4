/**
 * Public identifiers: a prefix that names the kind of record, and 26 characters that sort by age.
 *
 * The 26 characters are a number of 128 bits in Crockford's base32, lowercase: ten characters of the time in milliseconds, as in a
 * UUID of version 7 (RFC 9562 §5.7), two of the bucket, and 14 random ones. Everything of an organization has the same bucket, so
 * that an identifier says where it is stored; identifiers of accounts and requests have random characters there.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The prefix of each kind of identifier.
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
 * An identifier with the prefix `P`. Identifiers of different kinds are different types.
 *
 * @category models
 * @since 0.1.0
 */
export type Id<P extends Prefix> = `${P}_${string}`

/**
 * Identifies an account.
 *
 * @category models
 * @since 0.1.0
 */
export type AccountId = Id<"acct">

/**
 * Identifies an organization.
 *
 * @category models
 * @since 0.1.0
 */
export type OrganizationId = Id<"org">

/**
 * Identifies an API key.
 *
 * @category models
 * @since 0.1.0
 */
export type ApiKeyId = Id<"key">

/**
 * Identifies an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceId = Id<"inv">

/**
 * Identifies an event. Receivers deduplicate by it.
 *
 * @category models
 * @since 0.1.0
 */
export type EventId = Id<"evt">

/**
 * Identifies a webhook endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export type EndpointId = Id<"we">

/**
 * Identifies a delivery. Not for deduplication: two deliveries can carry the same event.
 *
 * @category models
 * @since 0.1.0
 */
export type DeliveryId = Id<"wd">

/**
 * Identifies a request, in `Request-Id` and in errors.
 *
 * @category models
 * @since 0.1.0
 */
export type RequestId = Id<"req">

/**
 * The 32 symbols of identifiers: Crockford's base32, lowercase.
 *
 * @category constants
 * @since 0.1.0
 */
export const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/**
 * The number of random bytes that `make` needs.
 *
 * @category constants
 * @since 0.1.0
 */
export const randomLength = 10

/**
 * Returns a new identifier.
 *
 * **Details**
 *
 * `timestamp` is in milliseconds since the epoch; `random` has at least `randomLength` bytes. `bucket` is the one of
 * the organization, as `bucket` returns it; by default it is random, too.
 *
 * **Gotchas**
 *
 * Throws a `RangeError` if the time does not fit into 48 bits or there are too few random bytes: the identifier would be
 * short, out of order or easy to guess.
 *
 * **Example** (Making an identifier)
 *
 * ```ts import.meta.vitest
 * import { Ids } from "@govoice/core"
 *
 * const id = Ids.make("inv", Date.UTC(2026, 10, 20), crypto.getRandomValues(new Uint8Array(Ids.randomLength)))
 *
 * Ids.is("inv", id) // => true
 * Ids.is("evt", id) // => false
 * Ids.timestamp(id) // => Date.UTC(2026, 10, 20)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <P extends Prefix>(prefix: P, timestamp: number, random: Uint8Array, bucket?: string): Id<P> =>
  `${prefix}_${makeText(timestamp, random, bucket)}`

/**
 * Returns the 26 characters of a new identifier, without a prefix. The arguments are those of `make`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeText = (timestamp: number, random: Uint8Array, bucket?: string): string => {
  if (!(timestamp >= 0 && timestamp < 2 ** 48)) throw new RangeError("timestamp must fit into 48 bits")
  if (random.length < randomLength) throw new RangeError(`random must have at least ${randomLength} bytes`)
  let time = ""
  let rest = Math.floor(timestamp)
  for (let position = 0; position < timeLength; position++) {
    time = alphabet.charAt(rest % 32) + time
    rest = Math.floor(rest / 32)
  }
  const text = fiveBytes(random, 0) + fiveBytes(random, 5)
  return time + (bucket === undefined ? text : bucket + text.slice(bucketLength))
}

const timeLength = 10

const bucketLength = 2

const fiveBytes = (bytes: Uint8Array, offset: number): string => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(offset, offset + 5)
  return (
    alphabet.charAt(a >> 3) +
    alphabet.charAt(((a & 7) << 2) | (b >> 6)) +
    alphabet.charAt((b >> 1) & 31) +
    alphabet.charAt(((b & 1) << 4) | (c >> 4)) +
    alphabet.charAt(((c & 15) << 1) | (d >> 7)) +
    alphabet.charAt((d >> 2) & 31) +
    alphabet.charAt(((d & 3) << 3) | (e >> 5)) +
    alphabet.charAt(e & 31)
  )
}

// Effect puts a pattern into the JSON Schema only if it has the flag `u`.
const pattern = (prefix: Prefix): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, "u")

const patterns = Object.fromEntries(Object.values(prefixes).map((prefix) => [prefix, pattern(prefix)])) as {
  readonly [P in Prefix]: RegExp
}

/**
 * Returns whether `value` has the form of an identifier with this prefix.
 *
 * **When to use**
 *
 * Use before an identifier from a request reaches an SQL statement. A malformed identifier cannot exist.
 *
 * @category guards
 * @since 0.1.0
 */
export const is = <P extends Prefix>(prefix: P, value: string): value is Id<P> => patterns[prefix].test(value)

/**
 * Returns the creation time of a well-formed identifier, in milliseconds since the epoch.
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

/**
 * Returns the bucket of a well-formed identifier: two characters, of which there are 1,024. Everything of an organization has
 * its bucket.
 *
 * @category getters
 * @since 0.1.0
 */
export const bucket = (id: Id<Prefix>): string => {
  const start = id.lastIndexOf("_") + 1 + timeLength
  return id.slice(start, start + bucketLength)
}

const example = new Uint8Array([1, 142, 3, 91, 77, 201, 6, 250, 18, 99])

/**
 * Returns the JSON schema of an identifier with this prefix.
 *
 * @category schemas
 * @since 0.1.0
 */
export const schema = <P extends Prefix>(prefix: P) =>
  Schema.String.annotate({ examples: [make(prefix, 1_795_000_000_000, example)] })
    .check(Schema.isPattern(patterns[prefix]))
    .pipe(Schema.refine((value: string): value is Id<P> => is(prefix, value)))
