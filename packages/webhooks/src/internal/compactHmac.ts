/**
 * What is asked of `node:crypto`, in as few bytes as it can be.
 *
 * @module
 */
import { encoder, type NodeCrypto, type NodeKey } from "./platform.ts"

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }

/** HMAC-SHA256 with a secret of printable ASCII. A key that is text needs no preparation. */
export const makeNodeKey =
  (node: NodeCrypto, secret: string): NodeKey =>
  (timestamp, body, signatures) => {
    const mac = node
      .createHmac("sha256", secret)
      .update(timestamp + ".")
      .update(body)
      .digest("hex")
    return signatures?.some((entry) => node.timingSafeEqual(encoder.encode(mac), encoder.encode(entry))) ?? mac
  }

/** The text of a body, without a byte order mark. What is not UTF-8 is replaced. */
export const decode = (body: Uint8Array): string => new TextDecoder().decode(body)
