/**
 * The limits of an invoice document, and the checks before it is parsed as XML.
 *
 * @since 0.1.0
 */
import * as Text from "./Text.ts"

/**
 * The maximum size of a document, in bytes of UTF-8. The national system has the same limit (FA(3), without attachments).
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 1_000_000

/**
 * The maximum number of elements of a document.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxElements = 100_000

/**
 * The maximum number of attributes of one element, namespace declarations included.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxAttributes = 64

/**
 * Returns a sentence that says why `value` is not a valid document, or `undefined` if it passes these checks.
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
  if (/^\uFEFF?\s*[{["]/.test(value)) return "invoice_xml is not XML. Send the document itself, not JSON."
  if (!Text.isStorable(value)) return "invoice_xml contains a NUL or an unpaired surrogate."
  return undefined
}
