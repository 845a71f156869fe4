/**
 * Signing of webhooks.
 *
 * @module
 * @since 0.1.0
 */
import { readBody, type WebhookBody } from "./body.ts"
import { makeKey } from "./internal/key.ts"
import { nodeCrypto } from "./internal/platform.ts"

/**
 * The options of {@link sign} and {@link signSync}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignOptions {
  /** The complete secret of the endpoint, `whsec_…`. */
  readonly secret: string
  /** The value of `Gov-Timestamp`. A string is signed as it is, a `Date` as its `toISOString()`. */
  readonly timestamp: string | Date
  readonly body: WebhookBody
}

/**
 * The options of {@link signedHeaders}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignedHeadersOptions {
  /** The id of the event in the body. */
  readonly id: string
  /** The complete secret of the endpoint, `whsec_…`. */
  readonly secret: string
  /** @default new Date() */
  readonly timestamp?: string | Date | undefined
  readonly body: WebhookBody
}

/**
 * The headers of a signed webhook.
 *
 * @category models
 * @since 0.1.0
 */
export type SignedHeaders = {
  readonly "Gov-Event-Id": string
  readonly "Gov-Timestamp": string
  readonly "Gov-Signature": string
}

/**
 * Signs a body and resolves with the value of `Gov-Signature`: `v1=` and 64 lowercase hex digits.
 *
 * @throws {WebhookVerificationError} `bad_secret` or `body_not_raw`.
 * @category constructors
 * @since 0.1.0
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
 * Signs a body synchronously. Requires `node:crypto`: Node, Bun, Deno, workerd with nodejs_compat.
 *
 * @throws {WebhookVerificationError} `bad_secret` or `body_not_raw`.
 * @throws {Error} if the runtime has no `node:crypto`.
 * @category constructors
 * @since 0.1.0
 */
export const signSync = (options: SignOptions): string => {
  if (!nodeCrypto()) throw Error("signSync requires node:crypto. Use sign.")
  return `v1=${signWith(options) as string}`
}

/**
 * Signs a body and resolves with the three headers of the webhook.
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
 * @category constructors
 * @since 0.1.0
 */
export const signedHeaders = async (options: SignedHeadersOptions): Promise<SignedHeaders> => {
  const timestamp = toText(options.timestamp ?? new Date())
  return {
    "Gov-Event-Id": options.id,
    "Gov-Timestamp": timestamp,
    "Gov-Signature": await sign({ ...options, timestamp })
  }
}

const signWith = ({ secret, timestamp, body }: SignOptions) =>
  // A string is hashed faster than it is converted to bytes and hashed.
  makeKey(secret)(toText(timestamp), typeof body === "string" ? body : readBody(body))

const toText = (timestamp: string | Date) => (typeof timestamp === "string" ? timestamp : timestamp.toISOString())
