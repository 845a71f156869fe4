/**
 * RSA-OAEP as KSeF uses it: SHA-256 as the hash, SHA-256 in MGF1, no label.
 *
 * @since 0.1.0
 */
import { constants, type KeyObject, privateDecrypt, publicEncrypt } from "node:crypto"

// One setting for both the hash and MGF1. The default of Node is SHA-1, which KSeF cannot decrypt.
const options = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" }

/**
 * Encrypts up to 190 bytes for a key of 2048 bits. The result has the length of the key's modulus.
 *
 * @throws {Error} when there are more bytes than fit.
 * @category encryption
 * @since 0.1.0
 */
export const encrypt = (key: KeyObject, bytes: Uint8Array): Buffer => publicEncrypt({ key, ...options }, bytes)

/**
 * Decrypts, or returns `undefined` where the bytes were not encrypted for this key in this way.
 *
 * @category encryption
 * @since 0.1.0
 */
export const decrypt = (key: KeyObject, bytes: Uint8Array): Buffer | undefined => {
  try {
    return privateDecrypt({ key, ...options }, bytes)
  } catch {
    return undefined
  }
}
