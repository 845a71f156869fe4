/**
 * The cryptography of KSeF 2.0: wrapped keys, encrypted documents, hashes, the archive of a batch, the signed link of an invoice
 * that was issued offline. Pure but for random bytes.
 *
 * @module
 * @since 0.1.0
 */
export * as CertificateLink from "./crypto/CertificateLink.ts"
export * as Oaep from "./crypto/Oaep.ts"
export * as PublicKeys from "./crypto/PublicKeys.ts"
export * as SealedDocument from "./crypto/SealedDocument.ts"
export { SessionKey } from "./crypto/SessionKey.ts"
export * as Sha256 from "./crypto/Sha256.ts"
export * as TarGz from "./crypto/TarGz.ts"
