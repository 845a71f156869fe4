/**
 * What becomes the value of a header.
 *
 * @module
 */

/** Refuses what is not there, and what `fetch` would refuse too, and quote. @throws {TypeError} */
export const ascii = (value: string | undefined): void => {
  if (!/^[ -~]+$/.test(value ?? "")) throw new TypeError("Keys must be ASCII")
}
