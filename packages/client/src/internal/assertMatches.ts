/**
 * Validation of options.
 *
 * @module
 */

/** Throws unless `value` is a string that matches. `message` must not contain the value if it may be secret. */
export const assertMatches = (value: string | undefined, pattern: RegExp, message: string): void => {
  if (!pattern.test(value ?? "")) throw new TypeError(message)
}
