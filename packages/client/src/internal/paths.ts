/**
 * Paths, with a place `*` for each identifier.
 *
 * @module
 */

/**
 * Fills the places of a path with as many identifiers, taken off the arguments. No identifier has a dash, so that one
 * which is malformed leads to nothing, and never to another path.
 */
export const fill = (path: string, rest: Array<unknown>): string =>
  path.replaceAll("*", () => String(rest.shift()).replace(/^$|\W/g, "-"))
