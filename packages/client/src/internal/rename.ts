/**
 * Conversion between snake_case (wire) and camelCase (here).
 *
 * @module
 */

/** Returns the object with its names in the other case. Names on the wire have no capital, names here no underscore. */
export const rename = (object: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]: [string, unknown]) => [
      name.replace(/_(.)|[A-Z]/g, (found, letter?: string) => letter?.toUpperCase() ?? `_${found.toLowerCase()}`),
      value
    ])
  )
