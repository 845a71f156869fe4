/**
 * The numbers by which the national system refers to its own records, such as a session or a token: the day, two letters
 * for the kind, twenty hexadecimal digits and a checksum over the 33 characters before the last hyphen.
 *
 * @since 0.1.0
 */
import * as Crc8 from "./Crc8.ts"

/**
 * The kinds that a receipt needs: an interactive session, an invoice in it, a token.
 *
 * @category constants
 * @since 0.1.0
 */
export const kinds = { session: "SO", invoice: "EE", token: "EC" } as const

/**
 * One of the `kinds`.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof kinds

/**
 * Puts a number together.
 *
 * **Details**
 *
 * - `day`: the day of the record, `YYYYMMDD`.
 * - `serial`: twenty hexadecimal digits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (kind: Kind, parts: { readonly day: string; readonly serial: string }): string => {
  const serial = parts.serial.toUpperCase()
  const body = `${parts.day}-${kinds[kind]}-${serial.slice(0, 10)}-${serial.slice(10, 20)}`
  return `${body}-${Crc8.checksum(body)}`
}

/**
 * Tells whether `text` has the form of a number and the right checksum.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean =>
  /^[0-9]{8}-[0-9A-Z]{2}-[0-9A-F]{10}-[0-9A-F]{10}-[0-9A-F]{2}$/.test(text) &&
  Crc8.checksum(text.slice(0, 33)) === text.slice(34)
