/**
 * The internal identifier (`IDWew`) of a unit of a taxpayer: the NIP, four digits of the taxpayer, and a check digit. Its algorithm
 * is described at `POST /permissions/subunits/grants` of the API.
 *
 * @since 0.1.0
 */
import * as Nip from "./Nip.ts"

/**
 * Returns whether `text` is the NIP, a hyphen and five digits, with the right check digits in both. KSeF checks them where it checks
 * NIPs.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean => {
  const [, nip, unit] = /^(\d{10})-(\d{5})$/.exec(text) ?? []
  if (nip === undefined || unit === undefined || !Nip.isValid(nip)) return false
  const digits = Array.from(`${nip}${unit}`, Number)
  const sum = digits.slice(0, -1).reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 1 : 3), 0)
  return sum % 10 === digits.at(-1)
}
