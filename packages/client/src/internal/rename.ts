/**
 * Conversion between snake_case (wire) and camelCase (here).
 *
 * @module
 */

import { assertMatches } from "./checkOptions.ts"

/**
 * Returns the object with its names as on the wire.
 *
 * @throws {TypeError} if a name has an underscore: it is from the wire, and would be sent as one that the service does not know.
 */
export const toWire = (object: object): Record<string, unknown> => {
  for (const [name] of Object.entries(object)) {
    const [here] = Object.keys(rename({ [name]: 0 }))
    assertMatches(name, /^[^_]*$/, `Unknown member "${name}". Write "${here}": the client sends it as "${name}".`)
  }
  return rename(object)
}

/** Returns the object with its names in the other case. Names on the wire have no capital, names here no underscore. */
export const rename = (object: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]: [string, unknown]) => [
      name.replace(/_(.)|[A-Z]/g, (found, letter?: string) => letter?.toUpperCase() ?? `_${found.toLowerCase()}`),
      value
    ])
  )
