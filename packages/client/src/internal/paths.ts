/**
 * Parts of URLs that callers have a say in.
 *
 * @module
 */

declare const URLSearchParams: new (entries: ReadonlyArray<[string, string]>) => object

/**
 * An identifier as a segment of a path. No identifier has a dash, so that one which is malformed leads to nothing, and
 * never to another path.
 */
export const segment = (id: string): string => `/${String(id).replace(/\W/g, "-") || "-"}`

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const entries = (members: object): Array<[string, unknown]> =>
  Object.entries(members as Record<string, unknown>)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [snakeCase(name), value])

/** The body of a request, in the case of the wire. */
export const wire = (members: object): object => Object.fromEntries(entries(members))

/** The query of a request. */
export const query = (members: object): string =>
  `?${new URLSearchParams(entries(members).map(([name, value]) => [name, String(value)]))}`
