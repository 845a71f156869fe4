/**
 * The public keys of the Ministry of Finance, as `GET /security/public-key-certificates` lists them.
 *
 * The chain of their certificates is not checked: the list is trusted because TLS delivered it.
 *
 * @since 0.1.0
 */
import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto"
import { attempt } from "./attempt.ts"

/**
 * The use of a key: to encrypt the token of a login, or the AES key of a session.
 *
 * @category models
 * @since 0.1.0
 */
export type Usage = "KsefTokenEncryption" | "SymmetricKeyEncryption"

/**
 * One entry of the list. `certificate` is X.509 in DER, in Base64; times are ISO 8601.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listed {
  readonly certificate: string
  readonly publicKeyId: string
  readonly usage: ReadonlyArray<string>
  readonly validFrom: string
  readonly validTo: string
}

/**
 * A key that can be used. `id` goes along with what was encrypted with it.
 *
 * @category models
 * @since 0.1.0
 */
export interface PublicKey {
  readonly id: string
  readonly key: KeyObject
}

/**
 * Returns the key for a usage at a time in milliseconds: of those valid then, the one whose validity began last. Entries
 * that are not RSA keys of at least 2048 bits are skipped. Returns `undefined` where none is left.
 *
 * @category getters
 * @since 0.1.0
 */
export const select = (list: ReadonlyArray<Listed>, usage: Usage, now: number): PublicKey | undefined => {
  const valid = list
    .filter(
      (entry) => entry.usage.includes(usage) && Date.parse(entry.validFrom) <= now && now < Date.parse(entry.validTo)
    )
    .sort((left, right) => Date.parse(right.validFrom) - Date.parse(left.validFrom))
  for (const { certificate, publicKeyId } of valid) {
    const key = read(certificate)
    if (key !== undefined) return { id: publicKeyId, key }
  }
  return undefined
}

/**
 * Reads the key of a certificate, or returns `undefined` where it is not RSA of at least 2048 bits. One example of the
 * OpenAPI document is a bare SubjectPublicKeyInfo, which is read, too.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (certificate: string): KeyObject | undefined => {
  const der = Buffer.from(certificate, "base64")
  const key =
    attempt(() => new X509Certificate(der).publicKey) ??
    attempt(() => createPublicKey({ key: der, type: "spki", format: "der" }))
  return key?.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048 ? key : undefined
}
