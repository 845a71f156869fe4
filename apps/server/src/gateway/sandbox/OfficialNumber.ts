/**
 * The number that the national system gives an accepted invoice, in its form since version 2.0: the seller's tax number,
 * the day, twelve hexadecimal digits and a checksum over the 32 characters before the last hyphen.
 *
 * @since 0.1.0
 */
import * as Crc8 from "./Crc8.ts"

/**
 * What stands for a seller without a tax number.
 *
 * @category constants
 * @since 0.1.0
 */
export const noNip = "0000000000"

/**
 * Puts a number together.
 *
 * **Details**
 *
 * - `nip`: ten digits.
 * - `day`: the day of acceptance, `YYYYMMDD`.
 * - `serial`: twelve hexadecimal digits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (parts: { readonly nip: string; readonly day: string; readonly serial: string }): string => {
  const body = `${parts.nip}-${parts.day}-${parts.serial.toUpperCase()}`
  return `${body}-${Crc8.checksum(body)}`
}

/**
 * Tells whether `text` has the form of a number and the right checksum.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean =>
  /^[0-9]{10}-[0-9]{8}-[0-9A-F]{12}-[0-9A-F]{2}$/.test(text) && Crc8.checksum(text.slice(0, 32)) === text.slice(33)
