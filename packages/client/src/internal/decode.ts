/**
 * Checks answers against the kinds that the contract was compiled into (`kinds.ts`), and turns their members to
 * camelCase.
 *
 * Members that are not known are let through, and so is any text where the contract lists values: an answer of a newer
 * service is not a fault.
 *
 * @module
 */
import { DecodeError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"

/** Text, a number, a boolean, an object of strings, an object with these members, a list, or one of them or null. */
export type Kind =
  | "string"
  | "number"
  | "boolean"
  | "strings"
  | { readonly [member: string]: Kind }
  | readonly [item: Kind]
  | readonly [value: Kind, orNull: null]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Checks a value and turns it to camelCase. @throws {DecodeError} */
export const decode = (kind: Kind, value: unknown, path: string): unknown => {
  if (Array.isArray(kind)) {
    const [inner, orNull] = kind as readonly [Kind, null?]
    if (orNull === null && value === null) return value
    if (orNull === null) return decode(inner, value, path)
    if (Array.isArray(value)) return value.map((item) => decode(inner, item, `${path}[]`))
  } else if (kind === "strings") {
    // Names that the caller chose stay as they are.
    if (isObject(value) && Object.values(value).every((text) => typeof text === "string")) return value
  } else if (typeof kind === "string") {
    if (typeof value === kind) return value
  } else if (isObject(value)) {
    const members = { ...value }
    for (const [name, member] of Object.entries(kind as Record<string, Kind>)) {
      members[name] = decode(member, value[name], `${path}.${name}`)
    }
    return Object.fromEntries(Object.entries(members).map(([name, member]) => [camelCase(name), member]))
  }
  throw new DecodeError(`The answer is not what the API promises, at ${path}.`)
}

const camelCase = (name: string) => name.replace(/_./g, (match) => match.charAt(1).toUpperCase())

/** Reads an answer that is JSON of this kind. */
export const json =
  <A>(kind: Kind) =>
  async (response: FetchResponse): Promise<A> => {
    const text = await response.text()
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      // The SyntaxError would quote the answer, which may hold a secret.
      throw new DecodeError("The answer is not JSON.")
    }
    return decode(kind, value, "answer") as A
  }

/** Reads an answer without content. */
export const nothing = async (response: FetchResponse): Promise<void> => {
  await response.text()
}
