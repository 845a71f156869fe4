/**
 * Reads answers: JSON in snake_case, checked against what the contract was compiled into (`kinds.ts`).
 *
 * Members that are not known are let through, and so is any text where the contract lists values: an answer of a newer
 * service is not a fault.
 *
 * @module
 */
import { DecodeError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"
import { rename } from "./rename.ts"

/**
 * The members of a record, parted by spaces. Each is its path and what it must be: text, unless it says `:number`,
 * `:boolean` or `:object`, which are texts by name or in a list. With `?` it may be null.
 */
export type Kind = string

/** @throws {DecodeError} when a member is missing or is something else. */
export const check = (kind: Kind, record: unknown): void => {
  for (const [, path, type, orNull] of kind.matchAll(/([\w.]+):?(\w*)(\??)/g)) {
    const value = path!.split(".").reduce((at, name) => at && (at as Record<string, unknown>)[name], record)
    if (
      value === null
        ? !orNull
        : typeof value !== (type || "string") ||
          (type === "object" && Object.values(value as object).some((text) => typeof text !== "string"))
    )
      throw new DecodeError(`No valid answer: ${path}`)
  }
}

/** Reads JSON of this kind. @throws {DecodeError} */
export const decode = (kind: Kind, text: string): unknown => {
  let value: unknown
  try {
    value = JSON.parse(text, (name, value: object | null) =>
      // In metadata the caller chose the names.
      value?.constructor === Object && name !== "metadata"
        ? rename(value, /_./g, (match) => match[1]!.toUpperCase())
        : value
    )
  } catch {
    // Then nothing of it is there. The SyntaxError would quote the answer, which may hold a secret.
  }
  check(kind, value)
  return value
}

/** Reads an answer that is JSON of this kind. One without content is of the empty kind, and undefined. */
export const json =
  <A>(kind: Kind) =>
  async (response: FetchResponse): Promise<A> =>
    decode(kind, await response.text()) as A
