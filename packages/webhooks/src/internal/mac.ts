/**
 * `v1` signatures, HMAC-SHA256 over a timestamp, a period and a body: by `node:crypto` or by Web Crypto.
 *
 * @module
 */
import { encoder, subtle, type NodeCrypto, type NodeKey, type WebKey } from "./platform.ts"

/** The signature, by `node:crypto`: the body goes to it as it is. */
export const nodeSignature = (node: NodeCrypto, key: NodeKey | string, timestamp: string, body: Uint8Array): string =>
  `v1=${node.createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex")}`

/** What is signed, in one piece, as Web Crypto wants it. */
export const signedBytes = (timestamp: string, body: Uint8Array): Uint8Array => {
  const head = encoder.encode(`${timestamp}.`)
  const bytes = new Uint8Array(head.length + body.length)
  bytes.set(head)
  bytes.set(body, head.length)
  return bytes
}

export const webKey = (secret: string): Promise<WebKey> =>
  subtle().importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"])
