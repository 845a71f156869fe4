/**
 * The bounds of an invoice document that can be judged without reading it as XML.
 *
 * @since 0.1.0
 */
import * as Text from "./Text.ts"

/**
 * The largest document, in bytes of UTF-8. The national system sets the same bound (FA(3), without attachments).
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 1_000_000

/**
 * Says what is wrong with a value given as the document, or `undefined` when nothing is.
 *
 * @category guards
 * @since 0.1.0
 */
export const fault = (value: unknown): string | undefined => {
  if (value === undefined) return "invoice_xml is missing."
  if (typeof value !== "string") return "invoice_xml must be a string."
  if (value.length > maxBytes || Text.utf8Bytes(value) > maxBytes) {
    return `invoice_xml is larger than ${maxBytes.toLocaleString("en")} bytes.`
  }
  if (/^\uFEFF?\s*$/.test(value)) return "invoice_xml is empty."
  if (!Text.isStorable(value)) return "invoice_xml contains a NUL or an unpaired surrogate."
  return undefined
}
