/**
 * `JSON.parse` for the bodies of callers.
 *
 * V8 12.8 to 14.6 can return another name for a member whose name has an escape: one that was parsed before, in any object
 * of the process, and begins with a backslash (https://github.com/nodejs/node/issues/63785). A caller could change the names
 * in the metadata of others.
 */

// Strings have no unescaped quotes, so this finds each escaped name. It also finds some values, at no harm.
const escapedName = /[{,]\s*"[^"\\]*\\/

/** Returns whether the name of a member of JSON may have an escape. */
export const mayHaveEscapedName = (text: string): boolean => escapedName.test(text)

const stringAndColon = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?/gs

const restore = (value: unknown, names: ReadonlyArray<string>): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((element: unknown) => restore(element, names))
  return Object.fromEntries(
    Object.entries(value).map(([index, member]) => [names[Number(index)]!, restore(member, names)])
  )
}

/**
 * Parses JSON like `JSON.parse`, and reads the names of members correctly, in time proportional to the text.
 *
 * @throws {SyntaxError} like `JSON.parse`.
 */
export const parseJson = (text: string): unknown => {
  // It refuses what is no JSON: the patterns below are linear in JSON alone, where every string ends.
  const value: unknown = JSON.parse(text)
  if (!mayHaveEscapedName(text)) return value
  // A string that is a value is decoded correctly, so each name is decoded alone, and its number is the name meanwhile.
  const names: Array<string> = []
  const numbered = text.replace(stringAndColon, (whole, token: string, colon: string | undefined) => {
    if (colon === undefined) return whole
    names.push(JSON.parse(token) as string)
    return `"${names.length - 1}"${colon}`
  })
  return restore(JSON.parse(numbered), names)
}
