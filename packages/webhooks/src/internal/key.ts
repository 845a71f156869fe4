/**
 * `v1` signatures: HMAC-SHA256 over a timestamp, a period and a body, by `node:crypto` or by Web Crypto.
 *
 * @module
 */
import { check } from "../error.ts"
import { encoder, nodeCrypto, type WebCrypto, type WebKey } from "./platform.ts"

declare const Blob: new (parts: ReadonlyArray<string | Uint8Array>) => { arrayBuffer(): Promise<ArrayBuffer> }
declare const crypto: WebCrypto

/** What Web Crypto does with a key and with what is signed. */
export type Use<A> = (key: WebKey, signed: ArrayBuffer) => Promise<A>

/** A secret, ready for use: gives the signature at once where there is `node:crypto`, and elsewhere hands the key on. */
export type Key = <A>(timestamp: string, body: Uint8Array, use?: Use<A>) => string | Promise<A>

/** The key is the whole secret, prefix included. */
export const makeKey = (secret: string): Key => {
  check(typeof secret === "string" && /^whsec_[!-~]+$/.test(secret), "bad_secret")
  const node = nodeCrypto()
  if (node) {
    const key = node.createSecretKey(secret)
    return (timestamp, body) =>
      `v1=${node.createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex")}`
  }
  // Made late, and kept without its promise: workerd does nothing between requests, and nothing for another request.
  let key: WebKey | undefined
  return async (timestamp, body, use) => {
    const signed = await new Blob([timestamp, ".", body]).arrayBuffer()
    key ??= await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
      "verify"
    ])
    return use!(key, signed)
  }
}
