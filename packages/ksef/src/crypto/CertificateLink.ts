/**
 * The link behind the QR code KOD II, which shows who issued an invoice offline: signed with the key of the issuer's KSeF
 * certificate of the type Offline. Source: kody-qr.md of CIRFMF/ksef-api.
 *
 * @since 0.1.0
 */
import { constants, type KeyObject, sign, verify as verifySignature } from "node:crypto"
import type { ContextIdentifier } from "../format/ContextIdentifier.ts"

/**
 * The parts of a link.
 *
 * **Details**
 *
 * - `origin`: of the verification pages, as `VerificationLink.originOf` returns it.
 * - `context`: the one that the invoice is sent in.
 * - `sellerNip`: ten digits.
 * - `serialNumber`: of the certificate, in hexadecimal digits as `X509Certificate` has it.
 * - `documentHash`: SHA-256 of the exact bytes of the invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface Source {
  readonly origin: string
  readonly context: ContextIdentifier
  readonly sellerNip: string
  readonly serialNumber: string
  readonly documentHash: Uint8Array
}

/**
 * Builds the link of an invoice, and signs it with a key: RSA of at least 2048 bits, or EC on the curve P-256. Each call returns
 * another link, because the signatures contain random bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ context, documentHash, origin, sellerNip, serialNumber }: Source, key: KeyObject): string => {
  const hash = Buffer.from(documentHash).toString("base64url")
  const link = `${origin}/certificate/${context.type}/${context.value}/${sellerNip}/${serialNumber}/${hash}`
  return `${link}/${sign("sha256", signedPart(link), { key, ...scheme }).toString("base64url")}`
}

/**
 * Returns whether the last part of a link is the signature of the rest.
 *
 * @category guards
 * @since 0.1.0
 */
export const verify = (link: string, key: KeyObject): boolean => {
  const end = link.lastIndexOf("/")
  const signature = Buffer.from(link.slice(end + 1), "base64url")
  return verifySignature("sha256", signedPart(link.slice(0, end)), { key, ...scheme }, signature)
}

// RSASSA-PSS with SHA-256, also in MGF1, or ECDSA as the bare concatenation of R and S. Node takes from it what fits the key.
const scheme = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: 32,
  dsaEncoding: "ieee-p1363"
} as const

const signedPart = (link: string): Buffer => Buffer.from(link.replace(/^https?:\/\//, ""))
