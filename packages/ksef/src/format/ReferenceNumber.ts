/**
 * The numbers by which KSeF refers to its own records, such as sessions and tokens: the day, two letters for the kind,
 * twenty hexadecimal digits, and a checksum of the 33 characters before the last hyphen.
 *
 * The checksum is not documented: 19 of 22 examples of the OpenAPI document have it. Do not reject a number of KSeF
 * because its checksum differs.
 *
 * @since 0.1.0
 */
import * as Crc8 from "./Crc8.ts"

/**
 * The letters of each kind.
 *
 * @category constants
 * @since 0.1.0
 */
export const kinds = {
  challenge: "CR",
  authentication: "AU",
  session: "SO",
  batchSession: "SB",
  invoice: "EE",
  upo: "EU",
  token: "EC",
  permission: "EG",
  enrollment: "EH"
} as const

/**
 * One of the `kinds`. `session` is an interactive session, `upo` the receipt of a session.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof kinds

/**
 * Builds a number from its parts and adds the checksum.
 *
 * **Details**
 *
 * - `day`: the day of the record, `YYYYMMDD`.
 * - `serial`: at least twenty hexadecimal digits, of which the first twenty are used.
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
 * Returns whether `text` has the form of a number, whatever its kind and checksum. Numbers of this form are safe in URL
 * paths.
 *
 * @category guards
 * @since 0.1.0
 */
export const hasForm = (text: string): boolean => form.test(text)

/**
 * Returns whether `text` has the form of a number and the right checksum.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean => hasForm(text) && Crc8.checksum(text.slice(0, 33)) === text.slice(34)

const form = /^[0-9]{8}-[0-9A-Z]{2}-[0-9A-F]{10}-[0-9A-F]{10}-[0-9A-F]{2}$/
