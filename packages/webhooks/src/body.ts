/**
 * The raw body of a webhook request.
 *
 * @module
 * @since 0.1.0
 */
import { check } from "./error.ts"
import { encode } from "./internal/platform.ts"

/**
 * A body as received. A string stands for its UTF-8 bytes.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** Returns the bytes of a body, without a copy if it has bytes already. */
export const readBody = (body: WebhookBody): Uint8Array => {
  if (typeof body === "string") return encode(body)
  if (ArrayBuffer.isView(body)) return body
  // An ArrayBuffer of another realm, such as that of a test environment, is no instance of this one.
  check(body?.[Symbol.toStringTag] === "ArrayBuffer", "body_not_raw")
  return new Uint8Array(body)
}
