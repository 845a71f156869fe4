/**
 * Signed webhooks for tests of receivers.
 *
 * @module
 * @since 0.1.0
 */
import type { InvoiceByEventType, InvoiceEvent, InvoiceEventType, WebhookEvent } from "./event.ts"
import { checkOptions } from "./internal/checkOptions.ts"
import { sampleInvoice } from "./internal/samples.ts"
import { sign, signSync } from "./sign.ts"

/**
 * The `Request` of the platform, if its types are installed.
 *
 * @category models
 * @since 0.1.0
 */
export type PlatformRequest = typeof globalThis extends { Request: { prototype: infer R } }
  ? R
  : { readonly url: string; readonly method: string }

declare const Request: new (
  url: string,
  init: { method: "POST"; headers: Record<string, string>; body: string }
) => PlatformRequest
declare const crypto: { getRandomValues(bytes: Uint8Array): Uint8Array }

/**
 * The options of {@link signedWebhook}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignedWebhookOptions<Type extends string = string> {
  /** The secret of the receiver. */
  readonly secret: string

  /** The type of the event: a known type, or any other string. */
  readonly type: Type

  /** Members of `data` and of `data.invoice` that replace those of the sample. */
  readonly data?:
    | (Type extends InvoiceEventType
        ? { readonly invoice?: Partial<InvoiceByEventType[Type]> }
        : { readonly [key: string]: unknown })
    | undefined

  /**
   * The time of signing: milliseconds, a `Date` or a clock.
   *
   * @default Date.now
   */
  readonly now?: number | Date | (() => number) | undefined

  /**
   * The id of the event. Use the same id twice to test deduplication.
   *
   * @default a new id
   */
  readonly id?: string | undefined

  /** @default "https://example.com/webhooks" */
  readonly url?: string | undefined
}

/**
 * A webhook as the service sends it.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignedWebhook<Event = WebhookEvent> {
  readonly event: Event
  /** The raw body. */
  readonly body: string
  readonly headers: Record<string, string>
  /** The same webhook as a `Request`. Its body can be read once. */
  readonly request: PlatformRequest
}

/**
 * The type of the event for an event type.
 *
 * @category models
 * @since 0.1.0
 */
export type EventOfType<Type extends string> = Type extends InvoiceEventType ? InvoiceEvent<Type> : WebhookEvent

/**
 * Returns a signed webhook with realistic content, as the service sends it.
 *
 * **Details**
 *
 * Requires `node:crypto`: Node, Bun, Deno, workerd with nodejs_compat. On other runtimes use {@link signedWebhookAsync}.
 *
 * **Example** (Testing a receiver)
 *
 * ```ts import.meta.vitest
 * import { createVerifier } from "@govoice/webhooks"
 * import { signedWebhook } from "@govoice/webhooks/testing"
 *
 * const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
 * const { body, headers } = signedWebhook({
 *   secret,
 *   type: "invoice.accepted",
 *   data: { invoice: { metadata: { order: "42" } } }
 * })
 *
 * const { event } = await createVerifier({ secret }).verify(body, headers)
 * event.type // => "invoice.accepted"
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @throws {TypeError} if an option is unknown.
 * @throws {Error} if the runtime has no `node:crypto`.
 * @category constructors
 * @since 0.1.0
 */
export const signedWebhook = <const Type extends string>(
  options: SignedWebhookOptions<Type>
): SignedWebhook<EventOfType<Type>> => {
  const draft = makeDraft(options)
  return finish(options, draft, signSync({ ...options, ...draft }))
}

/**
 * Resolves with a signed webhook with realistic content. Works on every runtime.
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @throws {TypeError} if an option is unknown.
 * @category constructors
 * @since 0.1.0
 */
export const signedWebhookAsync = async <const Type extends string>(
  options: SignedWebhookOptions<Type>
): Promise<SignedWebhook<EventOfType<Type>>> => {
  const draft = makeDraft(options)
  return finish(options, draft, await sign({ ...options, ...draft }))
}

interface Draft {
  readonly event: { readonly id: string }
  readonly timestamp: string
  readonly body: string
}

const makeDraft = (options: SignedWebhookOptions): Draft => {
  checkOptions(options, "secret type data now id url")
  const { type, data, now = Date.now, id = newId("evt_") } = options
  const time = new Date(typeof now === "function" ? now() : now)
  const sample = sampleInvoice(type, newId("inv_"), time.getTime())
  const invoice = sample && { ...sample, ...(data as { readonly invoice?: object } | undefined)?.invoice }
  const event = {
    id,
    object: "event",
    type,
    mode: invoice?.mode ?? "test",
    created_at: time.toISOString(),
    data: { ...data, ...(invoice && { invoice }) }
  }
  return { event, timestamp: time.toISOString(), body: JSON.stringify(event) }
}

const finish = <Event>(
  { url = "https://example.com/webhooks" }: SignedWebhookOptions,
  { event, timestamp, body }: Draft,
  signature: string
): SignedWebhook<Event> => {
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "Govoice-Webhooks/1",
    "Gov-Event-Id": event.id,
    "Gov-Timestamp": timestamp,
    "Gov-Signature": signature
  }
  return { event: event as Event, body, headers, request: new Request(url, { method: "POST", headers, body }) }
}

const newId = (prefix: string): string =>
  prefix +
  Array.from(crypto.getRandomValues(new Uint8Array(26)), (byte) => "0123456789abcdefghjkmnpqrstvwxyz"[byte % 32]).join(
    ""
  )
