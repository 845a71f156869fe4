/**
 * `v1` signatures: HMAC-SHA256 over a timestamp, a period and a body, by `node:crypto` or by Web Crypto.
 *
 * @module
 */
import { check } from "../error.ts"
import { makeNodeKey } from "./fast.ts"
import { encoder, nodeCrypto, type WebCrypto, type WebKey } from "./platform.ts"

declare const Blob: new (parts: ReadonlyArray<string | Uint8Array>) => { arrayBuffer(): Promise<ArrayBuffer> }
declare const crypto: WebCrypto

/**
 * A secret, ready for use: gives the 64 hex digits of a signature, or whether one of those that it was given fits. At once
 * where there is `node:crypto`; elsewhere a promise, and bytes instead of digits.
 */
export type Key = (
  timestamp: string,
  body: string | Uint8Array,
  signatures?: ReadonlyArray<string>
) => string | boolean | Promise<ArrayBuffer | boolean | undefined>

/** The key is the whole secret, prefix included. */
export const makeKey = (secret: string): Key => {
  check(typeof secret === "string" && /^whsec_[!-~]+$/.test(secret), "bad_secret")
  const node = nodeCrypto()
  if (node) return makeNodeKey(node, secret)
  // Made late, and kept without its promise: workerd does nothing between requests, and nothing for another request.
  let key: WebKey | undefined
  return async (timestamp, body, signatures) => {
    const signed = await new Blob([timestamp, ".", body]).arrayBuffer()
    key ??= await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
      "verify"
    ])
    if (!signatures) return crypto.subtle.sign("HMAC", key, signed)
    for (const signature of signatures) {
      const mac = Uint8Array.from(signature.match(/../g)!, (byte) => +`0x${byte}`)
      if (await crypto.subtle.verify("HMAC", key, mac, signed)) return true
    }
    return undefined
  }
}
