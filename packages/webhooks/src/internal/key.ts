/**
 * `v1` signatures: HMAC-SHA256 over timestamp, period and body, by `node:crypto` or by Web Crypto.
 *
 * @module
 */
import { WebhookVerificationError } from "../error.ts"
import { encode, type NodeCrypto, nodeCrypto, type WebCrypto, type WebKey } from "./platform.ts"

declare const Blob: new (parts: ReadonlyArray<string | Uint8Array>) => { arrayBuffer(): Promise<ArrayBuffer> }
declare const crypto: WebCrypto

/**
 * Computes a signature, or with `signatures` returns whether one of them matches. With `node:crypto` the result is
 * synchronous and a signature is 64 hex digits; with Web Crypto it is a promise and a signature is bytes.
 */
export type Key = (
  timestamp: string,
  body: string | Uint8Array,
  signatures?: ReadonlyArray<string>
) => string | boolean | Promise<ArrayBuffer | boolean | undefined>

const makeNodeKey =
  ({ createHmac, timingSafeEqual }: NodeCrypto, secret: string): Key =>
  (timestamp, body, signatures) => {
    const mac = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")
    return signatures?.some((signature) => timingSafeEqual(encode(mac), encode(signature))) ?? mac
  }

/** Returns the key for a secret. The HMAC key is the whole string, prefix included. */
export const makeKey = (secret: string): Key => {
  if (typeof secret !== "string" || !/^whsec_[!-~]+$/.test(secret)) {
    throw new WebhookVerificationError(
      "bad_secret",
      typeof secret !== "string" || !secret
        ? `is ${secret === "" ? "empty" : typeof secret}: is WEBHOOK_SECRET set?`
        : /[^!-~]/.test(secret)
          ? "contains white space or other invalid characters. Copy it again."
          : "is not the complete whsec_… value. Copy it again."
    )
  }
  const node = nodeCrypto()
  if (node) return makeNodeKey(node, secret)
  // Imported on first use, and stored as a value: workerd does no work between requests and shares no promise of one
  // request with another.
  let key: WebKey | undefined
  return async (timestamp, body, signatures) => {
    const signed = await new Blob([timestamp, ".", body]).arrayBuffer()
    key ??= await crypto.subtle.importKey("raw", encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
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
