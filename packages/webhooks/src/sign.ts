/**
 * The sending side.
 *
 * @module
 */
import { readBody, type WebhookBody } from "./body.ts"
import { makeKey } from "./internal/key.ts"
import { nodeCrypto } from "./internal/platform.ts"

/** What is signed, and with which secret. */
export interface SignOptions {
  /** The secret of the endpoint, `whsec_…`, all of it. */
  readonly secret: string
  /** The value of `Gov-Timestamp`. Text is signed as it stands; a `Date` as its `toISOString()`. */
  readonly timestamp: string | Date
  readonly body: WebhookBody
}

/** What {@link signedHeaders} makes headers of. */
export interface SignedHeadersOptions {
  /** The id of the event in the body. */
  readonly id: string
  /** The secret of the endpoint, `whsec_…`, all of it. */
  readonly secret: string
  /** @default new Date() */
  readonly timestamp?: string | Date | undefined
  readonly body: WebhookBody
}

/** The headers by which a receiver verifies a webhook. */
export type SignedHeaders = {
  readonly "Gov-Event-Id": string
  readonly "Gov-Timestamp": string
  readonly "Gov-Signature": string
}

/**
 * The value of `Gov-Signature` for a body: `v1=` and 64 lowercase hex digits.
 *
 * @throws {WebhookVerificationError} `bad_secret` or `body_not_raw`.
 */
export const sign = async (options: SignOptions): Promise<string> => {
  const mac = (await signWith(options)) as string | ArrayBuffer
  return `v1=${
    typeof mac === "string"
      ? mac
      : Array.from(new Uint8Array(mac), (byte) => (byte + 256).toString(16).slice(1)).join("")
  }`
}

/**
 * As {@link sign}, at once, on Node, Bun, Deno and workerd with nodejs_compat.
 *
 * @throws {WebhookVerificationError} `bad_secret` or `body_not_raw`.
 * @throws {Error} that names `sign`, where the runtime has no `node:crypto`.
 */
export const signSync = (options: SignOptions): string => {
  if (!nodeCrypto()) throw Error("no node:crypto: use sign")
  return `v1=${signWith(options) as string}`
}

/**
 * The three headers that a receiver verifies a webhook by.
 *
 * **Example** (Sending a webhook)
 *
 * ```ts import.meta.vitest
 * import { signedHeaders } from "@govoice/webhooks"
 *
 * const body = '{"id":"evt_1","type":"invoice.accepted"}'
 * const headers = await signedHeaders({
 *   id: "evt_1",
 *   secret: "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw",
 *   body
 * })
 *
 * headers["Gov-Event-Id"] // => "evt_1"
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret` or `body_not_raw`.
 */
export const signedHeaders = async (options: SignedHeadersOptions): Promise<SignedHeaders> => {
  const timestamp = isoText(options.timestamp ?? new Date())
  return {
    "Gov-Event-Id": options.id,
    "Gov-Timestamp": timestamp,
    "Gov-Signature": await sign({ ...options, timestamp })
  }
}

const signWith = ({ secret, timestamp, body }: SignOptions) =>
  // Text stays text, since it is signed with less effort than it takes to make bytes of it first.
  makeKey(secret)(isoText(timestamp), typeof body === "string" ? body : readBody(body))

const isoText = (timestamp: string | Date) => (typeof timestamp === "string" ? timestamp : timestamp.toISOString())
