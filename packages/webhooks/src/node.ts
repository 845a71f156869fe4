/**
 * A handler for `node:http`.
 *
 * @module
 */
import { readNodeBody, type NodeRequest } from "./internal/nodeBody.ts"
import { makeReceive, type HandlerOptions, type OnWebhook } from "./internal/receive.ts"

export type { HandlerOptions, OnWebhook } from "./internal/receive.ts"
export type { NodeRequest } from "./internal/nodeBody.ts"

/** What is used of a `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent?: boolean | undefined
  writeHead(status: number, headers?: Record<string, string>): { end(text?: string): unknown }
}

/**
 * Makes a request handler that verifies webhooks and answers for them.
 *
 * **Details**
 *
 * 204 once `onWebhook` has settled, or when `seen` knows the event; 400 for what does not verify; 405 for other methods
 * than POST; 413 for a body over `maxBodyBytes`; 500 when `onWebhook` or `seen` fails, and when the body was parsed
 * before it got here, so that the service tries again. The returned promise never rejects.
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
 */
export const createHandler = <Request extends NodeRequest>(
  options: HandlerOptions,
  onWebhook: OnWebhook<Request>
): ((request: Request, response: NodeResponse) => Promise<void>) => {
  const receive = makeReceive(options, onWebhook, readNodeBody)
  return async (request, response) => {
    const { status, headers, text } = await receive(request)
    // Somebody may have answered in the meantime, with a timeout for instance.
    if (!response.headersSent) response.writeHead(status, headers).end(text)
  }
}
