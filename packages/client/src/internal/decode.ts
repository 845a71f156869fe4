/**
 * Reads answers: JSON in snake_case, checked against what the contract was compiled into (`kinds.ts`).
 *
 * Members that are not known are let through, and so is any text where the contract lists values: an answer of a newer
 * service is not a fault.
 *
 * @module
 */
import { DecodeError } from "../error.ts"
import { rename } from "./rename.ts"

/**
 * The members of a record, parted by spaces. Each is its path and what it must be: text, unless it says `:n` (a number),
 * `:b` (a boolean) or `:o` (texts by name or in a list). With `?` it may be null. An answer without content is of the
 * empty kind.
 */
export type Kind = string

/** Returns the record. @throws {DecodeError} when a member is missing or is something else. */
export const check = (kind: Kind, record: unknown): unknown => {
  for (const [, path, type, orNull] of kind.matchAll(/([\w.]+):?(\w?)(\??)/g)) {
    const value = path!
      .split(".")
      .reduce((at, name) => (at == null ? at : (at as Record<string, unknown>)[name]), record)
    if (
      value === null
        ? !orNull
        : (typeof value)[0] !== (type || "s") ||
          (type === "o" && Object.values(value as object).some((text) => typeof text !== "string"))
    )
      throw new DecodeError(`No valid ${path}`)
  }
  return record
}

/** Reads JSON, and makes its names camelCase. What is no JSON is undefined. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text, (name, value: object | null) =>
      // In metadata the caller chose the names.
      value?.constructor === Object && name !== "metadata" ? rename(value) : value
    )
  } catch {
    // The SyntaxError would quote the answer, which may hold a secret.
    return undefined
  }
}
