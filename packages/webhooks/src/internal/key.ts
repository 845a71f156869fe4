/**
 * `v1` signatures: HMAC-SHA256 over a timestamp, a period and a body, by `node:crypto` or by Web Crypto.
 *
 * @module
 */
import { check } from "../error.ts"
import { makeSign } from "./hmac.ts"
import { encoder, nodeCrypto, type WebCrypto, type WebKey } from "./platform.ts"

declare const Blob: new (parts: ReadonlyArray<string | Uint8Array>) => { arrayBuffer(): Promise<ArrayBuffer> }
declare const crypto: WebCrypto

/**
 * A secret, ready for use: gives the signature at once where there is `node:crypto`, and elsewhere a promise of what Web
 * Crypto says: the bytes of a signature, or whether those that it was given fit.
 */
export type Key = (
  timestamp: string,
  body: string | Uint8Array,
  use?: "sign" | "verify",
  ...mac: ReadonlyArray<Uint8Array>
) => string | Promise<ArrayBuffer | boolean>

/** The key is the whole secret, prefix included. */
export const makeKey = (secret: string): Key => {
  check(typeof secret === "string" && /^whsec_[!-~]+$/.test(secret), "bad_secret")
  const node = nodeCrypto()
  if (node) return makeSign(node, secret)
  // Made late, and kept without its promise: workerd does nothing between requests, and nothing for another request.
  let key: WebKey | undefined
  return async (timestamp, body, use, ...mac) => {
    const signed = await new Blob([timestamp, ".", body]).arrayBuffer()
    key ??= await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
      use!
    ])
    return crypto.subtle[use!]("HMAC", key, ...mac, signed)
  }
}
