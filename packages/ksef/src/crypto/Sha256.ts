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
