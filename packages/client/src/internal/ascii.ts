/**
 * What becomes the value of a header.
 *
 * @module
 */

/** Refuses what `fetch` would refuse too, and quote. @throws {TypeError} */
export const ascii = (value: string): void => {
  if (!/^[ -~]+$/.test(value)) throw new TypeError("Keys must be ASCII")
}
