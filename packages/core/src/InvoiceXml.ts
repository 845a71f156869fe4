/**
 * The limits of an invoice document, and the checks before it is parsed as XML.
 *
 * @since 0.1.0
 */
import * as Text from "./Text.ts"

/**
 * The maximum size of a document without attachments, in bytes of UTF-8. The national system has the same limit.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 1_000_000

/**
 * The maximum size of a document with attachments (`Zalacznik`), in bytes of UTF-8. The national system has the same limit.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytesWithAttachment = 3_000_000

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
 * Returns whether the UTF-8 of a text has more bytes than `limit`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLarger = (text: string, limit: number): boolean => text.length > limit || Text.utf8Bytes(text) > limit

/**
 * Returns the sentence about a document that is larger than `limit` bytes.
 *
 * @category formatting
 * @since 0.1.0
 */
export const tooLarge = (limit: number): string => `invoice_xml is larger than ${limit.toLocaleString("en")} bytes.`

// The start tag of an attachment. Whether it is one where it stands, the parser decides.
const attachment = /<(?:[^\s<>/:]{1,100}:)?Zalacznik[\s/>]/

/**
 * Returns a sentence that says why `value` is not a valid document, or `undefined` if it passes these checks.
 *
 * @category guards
 * @since 0.1.0
 */
export const fault = (value: unknown): string | undefined => {
  if (value === undefined) return "invoice_xml is missing."
  if (typeof value !== "string") return "invoice_xml must be a string."
  const limit = attachment.test(value) ? maxBytesWithAttachment : maxBytes
  if (isLarger(value, limit)) return tooLarge(limit)
  if (/^\uFEFF?\s*$/.test(value)) return "invoice_xml is empty."
  if (/^\uFEFF?\s*[{["]/.test(value)) return "invoice_xml is not XML. Send the document itself, not JSON."
  if (!Text.isStorable(value)) return "invoice_xml contains a NUL or an unpaired surrogate."
  return undefined
}
