/**
 * A handler from `Request` to `Response`: for Hono, Next.js, Workers, Deno, Bun and other runtimes with the Fetch API.
 *
 * @module
 * @since 0.1.0
 */
import { makeReceive, type HandlerOptions, type OnWebhook } from "./internal/receive.ts"
import type { WebhookHeaders } from "./headers.ts"

export type { HandlerOptions, OnWebhook } from "./internal/receive.ts"

/**
 * The part of a `Request` that the handler uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebRequest {
  readonly method: string
  readonly headers: WebhookHeaders
  readonly bodyUsed: boolean
  readonly body: unknown
}

/**
 * The `Response` of the platform, if its types are installed.
 *
 * @category models
 * @since 0.1.0
 */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer R } }
  ? R
  : { readonly status: number }

declare const Blob: new (parts: ReadonlyArray<Uint8Array | ArrayBuffer>) => { arrayBuffer(): Promise<ArrayBuffer> }
declare const Response: new (
  body: string | undefined,
  init: { status: number; headers?: Record<string, string> }
) => WebResponse

/**
 * Creates a handler that verifies a `Request`, calls `onWebhook` and resolves with the `Response`.
 *
 * **Details**
 *
 * The statuses are those of `@govoice/webhooks/node`. The returned promise never rejects.
 *
 * **Example** (Receiving with Fetch)
 *
 * ```ts import.meta.vitest
 * import { signedWebhook } from "@govoice/webhooks/testing"
 * import { createHandler } from "@govoice/webhooks/web"
 *
 * const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
 * const handler = createHandler({ secret }, async ({ event }) => {
 *   console.log(event.type)
 * })
 *
 * const response = await handler(signedWebhook({ secret, type: "invoice.accepted" }).request)
 * response.status // => 204
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @throws {TypeError} if an option is unknown or invalid, or `onWebhook` is missing.
 * @category constructors
 * @since 0.1.0
 */
export const createHandler = <Request extends WebRequest>(
  options: HandlerOptions<Request>,
  onWebhook: OnWebhook<Request>
): ((request: Request) => Promise<WebResponse>) => {
  const receive = makeReceive(options, onWebhook, readWebBody)
  return async (request) => {
    const { text, ...init } = await receive(request)
    return new Response(text, init)
  }
}

const readWebBody = async (request: WebRequest, maxBytes: number) => {
  const body = request.body as (AsyncIterable<Uint8Array> & { readonly locked?: boolean }) | null
  if (request.bodyUsed || body?.locked) return null!
  let chunks: Array<Uint8Array | ArrayBuffer> = []
  let length = 0
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length
      if (length > maxBytes) return undefined
      // As in `readNodeBody`.
      if (chunks.push(chunk) > 9999) chunks = [await new Blob(chunks).arrayBuffer()]
    }
  } catch {
    // A body that breaks off fails verification.
  }
  return new Blob(chunks).arrayBuffer()
}
