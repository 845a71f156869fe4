/**
 * A document or archive, encrypted for a session, with the sizes and hashes that KSeF checks.
 *
 * @since 0.1.0
 */
import type { SessionKey } from "./SessionKey.ts"
import * as Sha256 from "./Sha256.ts"

/**
 * The record of an encryption: sizes in bytes and SHA-256 in Base64, before and after.
 *
 * @category models
 * @since 0.1.0
 */
export interface SealedDocument {
  readonly size: number
  readonly hash: string
  readonly encrypted: Buffer
  readonly encryptedHash: string
}

/**
 * Encrypts bytes, which must not change meanwhile.
 *
 * @category constructors
 * @since 0.1.0
 */
export const seal = (key: SessionKey, bytes: Uint8Array): SealedDocument => {
  const encrypted = key.encrypt(bytes)
  return {
    size: bytes.length,
    hash: Sha256.base64(bytes),
    encrypted,
    encryptedHash: Sha256.base64(encrypted)
  }
}
