/**
 * Schemas of members of requests, with their limits.
 *
 * The message of a check continues a sentence that begins with the name of the member. It does not contain the value.
 *
 * @since 0.1.0
 */
import { InvoiceEvent, Text } from "@govoice/core"
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

const anyEvent = "*"

/**
 * The event types of a subscription: any of the six, each once, or `["*"]` for all of them.
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
      description: 'Any of the six event types, or `["*"]` for all types, including types added later.',
      examples: [["invoice.accepted", "invoice.rejected"], [anyEvent]],
      toJsonSchema: () => [{ minItems: 1, maxItems: InvoiceEvent.EventType.literals.length, uniqueItems: true }, true]
    }
  )
)

/**
 * A Polish tax number (NIP): ten digits, the last of which is a check digit.
 *
 * @category schemas
 * @since 0.1.0
 */
export const nip = Schema.String.check(
  Schema.makeFilter(
    (value: string) => (isNip(value) ? undefined : "must be a NIP: ten digits with a valid check digit"),
    {
      description: "A Polish tax number (NIP): ten digits, the last of which is a check digit.",
      examples: ["5265877635"],
      toJsonSchema: () => [{ pattern: "^[0-9]{10}$" }, true]
    }
  )
)

const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]

const isNip = (value: string): boolean =>
  /^\d{10}$/.test(value) &&
  weights.reduce((sum, weight, index) => sum + weight * Number(value[index]), 0) % 11 === Number(value[9])
