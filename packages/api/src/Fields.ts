/**
 * The members that requests are made of, with their bounds.
 *
 * @since 0.1.0
 */
import { InvoiceEvent, Text } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * Text that can be stored, of `min` to `max` Unicode code points.
 *
 * @category schemas
 * @since 0.1.0
 */
export const text = (min: number, max: number) =>
  Schema.String.check(
    Schema.makeFilter((value: string) => {
      if (!Text.isStorable(value)) return "must not contain NUL or unpaired surrogates"
      const length = Text.codePoints(value)
      return length >= min && length <= max ? undefined : `must have ${min} to ${max} characters`
    })
  ).annotate({ description: `${min} to ${max} characters.` })

/**
 * An email address, as far as it can be judged without sending to it. Letter case does not count.
 *
 * @category schemas
 * @since 0.1.0
 */
export const email = text(3, 254)
  .check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/u, { message: "must be an email address" }))
  .annotate({ description: "An email address. Letter case does not count.", examples: ["owner@example.com"] })

/**
 * A new password.
 *
 * @category schemas
 * @since 0.1.0
 */
export const password = text(12, 128).annotate({ description: "12 to 128 characters." })

/**
 * The event types that an endpoint hears of: any of the six, or `["*"]` for all of them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const eventTypes = Schema.Union([
  Schema.Tuple([Schema.Literal("*")]),
  Schema.NonEmptyArray(InvoiceEvent.EventType).check(Schema.isMaxLength(InvoiceEvent.EventType.literals.length))
]).annotate({ description: 'Any of the six event types, or `["*"]` for all, also those added later.' })

/**
 * A Polish tax number (NIP): ten digits, the last of which checks the others.
 *
 * @category schemas
 * @since 0.1.0
 */
export const nip = Schema.String.check(
  Schema.makeFilter((value: string) => (isNip(value) ? undefined : "must be a NIP: ten digits with a right checksum"))
).annotate({ description: "A Polish tax number (NIP): ten digits.", examples: ["5265877635"] })

const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]

const isNip = (value: string): boolean =>
  /^\d{10}$/.test(value) &&
  weights.reduce((sum, weight, index) => sum + weight * Number(value[index]), 0) % 11 === Number(value[9])
