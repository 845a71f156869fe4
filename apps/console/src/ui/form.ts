/**
 * The values of a form.
 */

/** Returns the text of a field. A field that is missing has none. */
export const textOf = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value : ""
}
