/**
 * What callers give when they set a client up, and what becomes the value of a header.
 *
 * @module
 */

/** Returns a value that matches. The error tells the name and the pattern, never the value. @throws {TypeError} */
export const must = (name: string, value: string | undefined, pattern: RegExp): string => {
  if (!pattern.test(value ?? "")) throw new TypeError(`${name} must be ${pattern}`)
  return value!
}
