/**
 * Validation of options.
 *
 * @module
 */

/** The names of the options of every call. */
export const callOptions = "signal timeoutMs deadlineMs"

/** The names of the options of every connection. */
export const connectionOptions = "baseUrl fetch timeoutMs deadlineMs maxRetries onRequest onResponse onRetry"

/**
 * Returns the options, `{}` if there are none.
 *
 * @throws {TypeError} if a name is not among the `known`, which are separated by spaces, or if an option that counts
 * milliseconds or retries is not a number of at least 0.
 */
export const checkOptions = <A extends object>(options: A | undefined, known: string): A => {
  for (const name in options) {
    const value: unknown = options[name]
    if (!known.split(" ").includes(name))
      throw new TypeError(`Unknown option "${name}". The options are ${known.replaceAll(" ", ", ")}.`)
    if (/Ms$|^max/.test(name) && value !== undefined && !(typeof value === "number" && value >= 0))
      throw new TypeError(`${name} must be a number of at least 0.`)
  }
  return options ?? ({} as A)
}

/** Throws unless `value` is a string that matches. `message` must not contain the value if it may be secret. */
export const assertMatches = (value: string | undefined, pattern: RegExp, message: string): void => {
  if (!pattern.test(value ?? "")) throw new TypeError(message)
}

/** Throws unless `value` is a string with content. `variable` is where the programs of most callers have it from. */
export const assertSet = (name: string, value: unknown, variable: string): void => {
  if (!value || typeof value !== "string")
    throw new TypeError(`${name} is ${value === "" ? "empty" : typeof value}: is ${variable} set?`)
}
