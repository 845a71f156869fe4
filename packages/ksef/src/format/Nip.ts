/**
 * The NIP, the Polish tax identification number: nine digits and a weighted checksum modulo 11. `@govoice/api` and the console
 * have copies; `copies.test.ts` of the server compares them.
 *
 * @since 0.1.0
 */

/**
 * Ten zeros, for a seller without a NIP. It has the length of a NIP and can never be one.
 *
 * @category constants
 * @since 0.1.0
 */
export const absent = "0000000000"

/**
 * Returns whether `text` is ten digits in the ranges that KSeF's schemas allow, with the right checksum. KSeF checks the
 * checksum in production only.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (text: string): boolean => {
  if (!form.test(text)) return false
  const sum = weights.reduce((total, weight, index) => total + weight * Number(text[index]), 0)
  // A remainder of 10 is not assigned, and no digit equals it.
  return sum % 11 === Number(text[9])
}

// TNrNIP of the published schemas: the tax office code neither begins with 0 nor ends with 00.
const form = /^[1-9](?:\d[1-9]|[1-9]\d)\d{7}$/

const weights: ReadonlyArray<number> = [6, 5, 7, 2, 3, 4, 5, 6, 7]
