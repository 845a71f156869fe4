/**
 * Schemas of members of requests, with their limits.
 *
 * The message of a check continues a sentence that begins with the name of the member. It does not contain the value.
 *
 * @since 0.1.0
 */
import { InvoiceEvent, Mode, Text } from "@govoice/core"
import * as Schema from "effect/Schema"

const bounds = (min: number, max: number): string => (min === 0 ? `at most ${max}` : `${min} to ${max}`)

/**
 * Returns the schema of text of `min` to `max` Unicode code points. JSON Schema counts code points too.
 *
 * @category schemas
 * @since 0.1.0
 */
export const text = (
  min: number,
  max: number,
  annotations: Schema.Annotations.Documentation<string> & { readonly format?: string } = {}
) =>
  Schema.String.annotate({ description: `Text of ${bounds(min, max)} characters.`, ...annotations }).check(
    Schema.makeFilter(
      (value: string) => {
        if (!Text.isStorable(value)) return "must not contain NUL or unpaired surrogates"
        // A code point has at most two units. Longer text is not counted: counting a million units takes 10 ms.
        const length = value.length > 2 * max ? Infinity : Text.codePoints(value)
        return length >= min && length <= max ? undefined : `must have ${bounds(min, max)} characters`
      },
      { toJsonSchema: () => (min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }) }
    )
  )

/**
 * An email address. Letter case is ignored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const email = text(3, 254, {
  description: "An email address. Letter case is ignored.",
  examples: ["owner@example.com"]
}).check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/u, { message: "must be an email address" }))

/**
 * A new password.
 *
 * @category schemas
 * @since 0.1.0
 */
export const password = text(12, 128, { description: "12 to 128 characters.", format: "password" })

/**
 * Text in PEM.
 *
 * @category schemas
 * @since 0.1.0
 */
export const pem = (description: string, format?: "password") =>
  text(1, 16_384, format === undefined ? { description } : { description, format })

/**
 * The password of a private key, which a request may leave out.
 *
 * @category schemas
 * @since 0.1.0
 */
export const privateKeyPassword = Schema.optionalKey(
  Schema.NullOr(
    text(0, 1024, { description: "The password of the private key. It is not stored.", format: "password" })
  ).annotate({ description: "The password of the private key, if it is encrypted. It is not stored." })
)

const anyEvent = "*"

/**
 * The event types of a subscription: any of them, each once, or `["*"]` for all of them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const eventTypes = Schema.Array(Schema.Literals([anyEvent, ...InvoiceEvent.EventType.literals])).check(
  Schema.makeFilter(
    (types: ReadonlyArray<InvoiceEvent.EventType | typeof anyEvent>) => {
      if (types.length === 0) return "must have at least one event type"
      if (types.includes(anyEvent) && types.length > 1) return 'must not have event types other than "*"'
      return new Set(types).size === types.length ? undefined : "must not have an event type twice"
    },
    {
      description: 'Any of the event types, or `["*"]` for all types, including types added later.',
      examples: [["invoice.accepted", "invoice.rejected"], [anyEvent]],
      toJsonSchema: () => [{ minItems: 1, maxItems: InvoiceEvent.EventType.literals.length, uniqueItems: true }, true]
    }
  )
)

/**
 * The modes whose events an endpoint receives: `test`, `live` or both, each once.
 *
 * @category schemas
 * @since 0.1.0
 */
export const modes = Schema.Array(Mode.Mode).check(
  Schema.makeFilter(
    (values: ReadonlyArray<Mode.Mode>) => {
      if (values.length === 0) return "must have at least one mode"
      return new Set(values).size === values.length ? undefined : "must not have a mode twice"
    },
    {
      description: "The modes whose events the endpoint receives. Defaults to both for a new endpoint.",
      examples: [["live"]],
      toJsonSchema: () => [{ minItems: 1, maxItems: Mode.Mode.literals.length, uniqueItems: true }, true]
    }
  )
)

const maxHeaders = 10
const maxHeaderName = 64
const maxHeaderValue = 1000

// Those of the message and its connection, of proxies, and of the signature. `webhook-` is of Standard Webhooks.
const refusedHeaders = new Set(
  "connection date expect forwarded host http2-settings keep-alive te trace traceparent tracestate trailer transfer-encoding upgrade user-agent via x-real-ip".split(
    " "
  )
)
const refusedPrefixes = ["content-", "gov-", "proxy-", "sec-", "webhook-", "x-forwarded-"]

const isRefused = (name: string): boolean => {
  const lower = name.toLowerCase()
  return refusedHeaders.has(lower) || refusedPrefixes.some((prefix) => lower.startsWith(prefix))
}

const faultOfHeaders = (headers: Readonly<Record<string, string>>): string | undefined => {
  const names = Object.keys(headers)
  if (names.length > maxHeaders) return `must have at most ${maxHeaders} headers`
  if (names.some((name) => name.length > maxHeaderName || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)))
    return `must have names of 1 to ${maxHeaderName} characters that HTTP allows in the name of a header`
  const refused = names.find(isRefused)
  if (refused !== undefined)
    return `must not have the header ${refused}: the connection, proxies or the signature need it`
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    return "must not have a header twice: letter case is ignored"
  return Object.values(headers).every(
    (value) => value.length <= maxHeaderValue && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
  )
    ? undefined
    : `must have values of 1 to ${maxHeaderValue} printable ASCII characters, without spaces at the ends`
}

/**
 * Headers that every webhook of an endpoint carries, values by name. The values are secrets.
 *
 * @category schemas
 * @since 0.1.0
 */
export const headers = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter((given: Readonly<Record<string, string>>) => faultOfHeaders(given), {
    description:
      "Headers that every webhook carries, at most 10, such as the key of an API gateway. Values are secrets: no response contains them. A new object replaces all.",
    examples: [{ "X-Api-Key": "key-of-the-gateway" }],
    toJsonSchema: () => [
      {
        maxProperties: maxHeaders,
        propertyNames: { maxLength: maxHeaderName },
        additionalProperties: { type: "string", minLength: 1, maxLength: maxHeaderValue }
      },
      true
    ]
  })
)

/**
 * The context of a login at KSeF. A value has to be of the form of its type.
 *
 * @category schemas
 * @since 0.1.0
 */
export const context = Schema.Struct({
  type: Schema.Literals(["Nip", "InternalId", "NipVatUe"]).annotate({
    message: 'must be "Nip", "InternalId" or "NipVatUe"',
    description:
      "`Nip`: a taxpayer. `InternalId`: a unit of a taxpayer. `NipVatUe`: a taxpayer and the entity of another EU member state that issues its invoices by self-billing."
  }),
  value: Schema.String.annotate({
    description:
      "Of `Nip`: ten digits, the last of which is a check digit. Of `InternalId`: the NIP, a hyphen and five digits, the last of which is a check digit, as `5265877635-12346`. Of `NipVatUe`: the NIP, a hyphen and the VAT number with its country, as `5265877635-DE123456789`.",
    examples: ["5265877635"]
  })
})
  .annotate({ description: "On whose behalf invoices are submitted: the context of a login at KSeF." })
  .check(
    Schema.makeFilter(({ type, value }) => {
      const { expected, isValid } = contexts[type]
      return isValid(value) ? undefined : { path: ["value"], issue: `must be ${expected}` }
    })
  )

const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]

const isNip = (value: string): boolean =>
  /^\d{10}$/.test(value) &&
  weights.reduce((sum, weight, index) => sum + weight * Number(value[index]), 0) % 11 === Number(value[9])

// The check digit counts the digits before it alternately once and three times.
const isInternalId = (value: string): boolean => {
  if (!/^\d{10}-\d{5}$/.test(value) || !isNip(value.slice(0, 10))) return false
  const digits = Array.from(value.replace("-", ""), Number)
  const sum = digits.slice(0, -1).reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 1 : 3), 0)
  return sum % 10 === digits[14]
}

const isNipVatUe = (value: string): boolean => isNip(value.slice(0, 10)) && vatUe.test(value.slice(10))

const contexts = {
  Nip: { isValid: isNip, expected: "a NIP: ten digits with a valid check digit" },
  InternalId: {
    isValid: isInternalId,
    expected:
      "an internal identifier: a NIP, a hyphen and five digits, each with a valid check digit, as 5265877635-12346"
  },
  NipVatUe: {
    isValid: isNipVatUe,
    expected: "a NIP, a hyphen and a VAT number of the EU with its country, as 5265877635-DE123456789"
  }
} as const

// A copy of TNipVatUE of the schema of logins at KSeF.
const vatUe = new RegExp(
  `^-(?:${[
    "ATU\\d{8}",
    "BE[01]\\d{9}",
    "BG\\d{9,10}",
    "CY\\d{8}[A-Z]",
    "CZ\\d{8,10}",
    "DE\\d{9}",
    "DK\\d{8}",
    "EE\\d{9}",
    "EL\\d{9}",
    "ES(?:[A-Z]\\d{8}|\\d{8}[A-Z]|[A-Z]\\d{7}[A-Z])",
    "FI\\d{8}",
    "FR[A-Z0-9]{2}\\d{9}",
    "HR\\d{11}",
    "HU\\d{8}",
    "IE(?:\\d{7}[A-Z]{2}|\\d[A-Z0-9+*]\\d{5}[A-Z])",
    "IT\\d{11}",
    "LT(?:\\d{9}|\\d{12})",
    "LU\\d{8}",
    "LV\\d{11}",
    "MT\\d{8}",
    "NL[A-Z0-9+*]{12}",
    "PT\\d{9}",
    "RO\\d{2,10}",
    "SE\\d{12}",
    "SI\\d{8}",
    "SK\\d{10}",
    "XI(?:\\d{9}|\\d{12}|(?:GD|HA)\\d{3})"
  ].join("|")})$`
)
