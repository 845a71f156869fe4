/**
 * What is asked of `node:crypto`, in as few bytes as it can be: takes the place of `hmac.ts` in bundles for browsers and
 * workers, by the field `browser` of the manifest.
 *
 * @module
 */
import { encoder, type NodeCrypto } from "./platform.ts"

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }

/** Gives `v1` signatures. */
export type Sign = (timestamp: string, body: string | Uint8Array) => string

/** HMAC-SHA256 with a secret of printable ASCII. A key that is text needs no preparation. */
export const makeSign =
  (node: NodeCrypto, secret: string): Sign =>
  (timestamp, body) =>
    `v1=${node.createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`

/** Compares two signatures in constant time. */
export const isSame = (node: NodeCrypto, left: string, right: string): boolean =>
  node.timingSafeEqual(encoder.encode(left), encoder.encode(right))

/** The text of a body, without a byte order mark. What is not UTF-8 is replaced. */
export const decode = (body: Uint8Array): string => new TextDecoder().decode(body)
