/**
 * The body of a webhook, as bytes and never as what somebody made of them.
 *
 * @module
 */
import { check } from "./error.ts"
import { encoder } from "./internal/platform.ts"

/** A body as it was received. Text counts as its UTF-8 bytes. */
export type WebhookBody = string | Uint8Array | ArrayBuffer

/** What is signed, not copied. */
export const readBody = (body: WebhookBody): Uint8Array => {
  if (typeof body === "string") return encoder.encode(body)
  if (ArrayBuffer.isView(body)) return body
  check(body instanceof ArrayBuffer, "body_not_raw")
  return new Uint8Array(body)
}
