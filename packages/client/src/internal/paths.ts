/**
 * What callers give, on its way into a request.
 *
 * @module
 */

import { rename } from "./rename.ts"

/**
 * An identifier as a segment of a path. No identifier has a dash, so that one which is malformed leads to nothing, and
 * never to another path.
 */
export const segment = (id: unknown): string => String(id).replace(/\W/g, "-") || "-"

/** A path of the control plane. Takes as many identifiers off the arguments as it has places `*`. */
export const fill = (path: string, rest: Array<unknown>): string =>
  `/control-plane/${path.replace(/\*/g, () => segment(rest.shift()))}`

/** The members of a body or of a query, in the case of the wire. */
export const wire = (members: {}): Record<string, unknown> =>
  rename(members, /[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
