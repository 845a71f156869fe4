/**
 * Cases: snake_case on the wire, camelCase here.
 *
 * @module
 */

/** The same object with its names in the other case: no name on the wire has a capital, and none here has a `_`. */
export const rename = (object: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]: [string, unknown]) => [
      name.replace(/_(.)|[A-Z]/g, (found, letter?: string) => letter?.toUpperCase() ?? `_${found.toLowerCase()}`),
      value
    ])
  )
