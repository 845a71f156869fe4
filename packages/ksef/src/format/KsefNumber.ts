/**
 * The number that KSeF 2.0 assigns to an accepted invoice: the seller's NIP, the day of acceptance, twelve hexadecimal
 * digits, and a checksum of the 32 characters before the last hyphen.
 *
 * The 36-character numbers of KSeF 1.0 are not covered.
 *
 * @since 0.1.0
 */
import * as Crc8 from "./Crc8.ts"

/**
 * The parts of a number.
 *
 * **Details**
 *
 * - `nip`: ten digits.
 * - `day`: the day of acceptance, `YYYYMMDD`.
 * - `serial`: twelve hexadecimal digits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly nip: string
  readonly day: string
  readonly serial: string
}

/**
 * Builds a number from its parts and adds the checksum.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ day, nip, serial }: Parts): string => {
  const body = `${nip}-${day}-${serial.toUpperCase()}`
  return `${body}-${Crc8.checksum(body)}`
}

/**
 * Returns the parts of a number, or `undefined` where the form or the checksum is wrong.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): Parts | undefined => {
  const [, nip, day, serial, checksum] = form.exec(text) ?? []
  if (nip === undefined || day === undefined || serial === undefined) return undefined
  return Crc8.checksum(text.slice(0, 32)) === checksum ? { nip, day, serial } : undefined
}

/**
 * Returns whether `text` has the form of a number and the right checksum.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean => parse(text) !== undefined

const form = /^([0-9]{10})-([0-9]{8})-([0-9A-F]{12})-([0-9A-F]{2})$/
