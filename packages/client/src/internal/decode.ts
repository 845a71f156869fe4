/**
 * Decodes responses: JSON in snake_case, checked against the schemas that are generated from the contract (`schemas.ts`).
 *
 * Unknown members pass, and so does any string where the contract lists values: a newer service may send them.
 *
 * @module
 */
import { DecodeError } from "../error.ts"
import { rename } from "./rename.ts"

/**
 * The members of a record, separated by spaces. Each is a path and its type: a string by default, `:n` a number, `:b` a
 * boolean, `:o` strings by name or in a list. `?` means nullable. The schema of a response without content is empty.
 */
export type RecordSchema = string

/** Returns the record. @throws {DecodeError} if a member is missing or has another type. */
export const check = (schema: RecordSchema, record: unknown): unknown => {
  for (const [, path, type, orNull] of schema.matchAll(/([\w.]+):?(\w?)(\??)/g)) {
    const value = path!
      .split(".")
      .reduce((at, name) => (at == null ? at : (at as Record<string, unknown>)[name]), record)
    if (
      value === null
        ? !orNull
        : (typeof value)[0] !== (type || "s") ||
          (type === "o" && Object.values(value as object).some((text) => typeof text !== "string"))
    )
      throw new DecodeError(`The response has no valid ${path}. Check baseUrl and proxies.`)
  }
  return record
}

/** Parses JSON and converts names to camelCase. Returns `undefined` for invalid JSON. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text, (name, value: object | null) =>
      // Metadata has names of the caller.
      value?.constructor === Object && name !== "metadata" ? rename(value) : value
    )
  } catch {
    // The SyntaxError quotes the response, which may contain a secret.
    return undefined
  }
}
