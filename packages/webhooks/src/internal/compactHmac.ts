/**
 * HMAC-SHA256 by `createHmac`.
 *
 * @module
 */
import { encode, type NodeCrypto, type NodeKey } from "./platform.ts"

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }

/** Returns the key for a secret of printable ASCII. */
export const makeNodeKey =
  (node: NodeCrypto, secret: string): NodeKey =>
  (timestamp, body, signatures) => {
    const mac = node
      .createHmac("sha256", secret)
      .update(timestamp + ".")
      .update(body)
      .digest("hex")
    return signatures?.some((entry) => node.timingSafeEqual(encode(mac), encode(entry))) ?? mac
  }

/** Returns the text of a body without a byte order mark. Invalid UTF-8 becomes U+FFFD. */
export const decode = (body: Uint8Array): string => new TextDecoder().decode(body)
