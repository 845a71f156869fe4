/**
 * Cases: snake_case on the wire, camelCase here.
 *
 * @module
 */

/** The same object with other names. */
export const rename = (
  object: object,
  pattern: RegExp,
  replacement: (match: string) => string
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]: [string, unknown]) => [name.replace(pattern, replacement), value])
  )
