/**
 * SHA-256 in standard Base64, 44 characters: how KSeF writes every hash.
 *
 * @since 0.1.0
 */
import { hash } from "node:crypto"

/**
 * Returns the hash of bytes.
 *
 * @category hashing
 * @since 0.1.0
 */
export const base64 = (bytes: Uint8Array): string => hash("sha256", bytes, "base64")

/**
 * Returns whether `text` is 32 bytes in standard Base64 with its padding.
 *
 * @category guards
 * @since 0.1.0
 */
export const isBase64 = (text: string): boolean => form.test(text)

// The last character before the padding carries four bits, and two that are zero.
const form = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/
