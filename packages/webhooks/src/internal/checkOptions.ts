/**
 * Validation of options.
 *
 * @module
 */

/**
 * Throws a `TypeError` if a name is not among the `known`, which are separated by spaces, or if an option that counts seconds or
 * bytes is not a number of at least 0.
 */
export const checkOptions = (options: object | undefined, known: string): void => {
  for (const [name, value] of Object.entries(options ?? {}) as Array<[string, unknown]>) {
    if (!known.split(" ").includes(name))
      throw new TypeError(`Unknown option "${name}". The options are ${known.replaceAll(" ", ", ")}.`)
    if (/Seconds|Bytes/.test(name) && value !== undefined && !(typeof value === "number" && value >= 0))
      throw new TypeError(`${name} must be a number of at least 0.`)
  }
}
