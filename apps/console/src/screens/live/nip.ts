/**
 * The check digit of a Polish tax number. A copy of `Fields.nip` of `@govoice/api`, which the page does not load;
 * `copies.test.ts` of the server compares them.
 */
const weights = [6, 5, 7, 2, 3, 4, 5, 6, 7]

/** Returns whether the text is a NIP: ten digits, the last of which is a check digit. */
export const isNip = (text: string): boolean =>
  /^\d{10}$/.test(text) &&
  weights.reduce((sum, weight, index) => sum + weight * Number(text[index]), 0) % 11 === Number(text[9])
