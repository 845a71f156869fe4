/**
 * A request handler for `node:http`.
 *
 * @module
 * @since 0.1.0
 */
import { readNodeBody, type NodeRequest } from "./internal/nodeBody.ts"
import { call, logError, makeReceive, type HandlerOptions, type OnWebhook } from "./internal/receive.ts"

export type { HandlerOptions, OnWebhook } from "./internal/receive.ts"
export type { NodeRequest } from "./internal/nodeBody.ts"

/**
 * The part of a `ServerResponse` that the handler uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeResponse {
  readonly headersSent?: boolean | undefined
  writeHead(status: number, headers?: Record<string, string>): { end(text?: string): unknown }
  destroy?(): unknown
}

/**
 * Creates a request handler that verifies webhooks, calls `onWebhook` and answers the request.
 *
 * **Details**
 *
 * The statuses are:
 *
 * - 204 after `onWebhook` has finished, or if `seen` returns true.
 * - 400 if the webhook does not verify.
 * - 405 for methods other than POST.
 * - 413 for a body over `maxBodyBytes`.
 * - 500 if `onWebhook` or `seen` fails, or if the body was parsed before. The service retries.
 *
 * The returned promise never rejects.
 *
 * **Example** (Receiving with node:http)
 *
 * ```ts import.meta.vitest
 * import { createHandler } from "@govoice/webhooks/node"
 * import { createServer } from "node:http"
 *
 * const handler = createHandler({ secret: "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw" }, async ({ event }) => {
 *   console.log(event.type)
 * })
 *
 * const server = createServer((request, response) => void handler(request, response))
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @throws {TypeError} if an option is unknown or invalid, or `onWebhook` is missing.
 * @category constructors
 * @since 0.1.0
 */
export const createHandler = <Request extends NodeRequest>(
  options: HandlerOptions<Request>,
  onWebhook: OnWebhook<Request>
): ((request: Request, response: NodeResponse) => Promise<void>) => {
  const receive = makeReceive(options, onWebhook, readNodeBody)
  return async (request, response) => {
    const { status, headers, text } = await receive(request)
    try {
      // Other middleware, such as a timeout, may have answered already.
      if (!response.headersSent) response.writeHead(status, headers).end(text)
    } catch (error) {
      // Other middleware that hooks into the answer failed. The service retries when the connection closes.
      response.destroy?.()
      void call(options.onError ?? logError, error)
    }
  }
}
