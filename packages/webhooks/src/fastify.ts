/**
 * A plugin for Fastify 4 and 5.
 *
 * @module
 * @since 0.1.0
 */
import type { WebhookBody } from "./body.ts"
import { readNodeBody, type NodeStream } from "./internal/nodeBody.ts"
import { makeReceive, type HandlerOptions, type OnWebhook } from "./internal/receive.ts"

export type { HandlerOptions, OnWebhook } from "./internal/receive.ts"
export type { NodeStream } from "./internal/nodeBody.ts"

/**
 * The part of a Fastify request that the plugin uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface FastifyWebhookRequest {
  readonly method: string
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly body: unknown
}

interface Reply {
  code(status: number): this
  headers(headers: Record<string, string>): this
  send(text?: string): this
}

/**
 * The part of a Fastify instance that the plugin uses.
 *
 * @category models
 * @since 0.1.0
 */
export interface FastifyWebhookInstance<Request> {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(contentType: "*", parser: (request: Request, payload: NodeStream) => Promise<unknown>): unknown
  setErrorHandler(handler: (error: { statusCode?: number }, request: Request, reply: Reply) => void): unknown
  all(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>): unknown
}

/**
 * Creates a plugin that verifies webhooks at one path, calls `onWebhook` and answers the request. Register it with
 * `fastify.register(plugin, { path })`.
 *
 * **Details**
 *
 * The statuses are those of `@govoice/webhooks/node`. The plugin removes the content type parsers within its own scope, so
 * that the body stays raw. Other routes keep their parsers.
 *
 * **Example** (Receiving with Fastify)
 *
 * ```ts import.meta.vitest
 * import { createHandler } from "@govoice/webhooks/fastify"
 * import fastify from "fastify"
 *
 * const webhooks = createHandler({ secret: "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw" }, ({ event }) => {
 *   console.log(event.type)
 * })
 *
 * const app = fastify()
 * await app.register(webhooks, { path: "/webhooks" })
 * ```
 *
 * @throws {WebhookVerificationError} `bad_secret`.
 * @throws {TypeError} if an option is unknown or invalid, or `onWebhook` is missing.
 * @category constructors
 * @since 0.1.0
 */
export const createHandler = <Request extends FastifyWebhookRequest>(
  options: HandlerOptions<Request>,
  onWebhook: OnWebhook<Request>
) => {
  const receive = makeReceive(options, onWebhook, async ({ body }: Request) => (body ?? "") as WebhookBody)
  const { maxBodyBytes = 2 ** 20 } = options
  return (fastify: FastifyWebhookInstance<Request>, { path }: { readonly path: string }, done: () => void): void => {
    fastify.removeAllContentTypeParsers()
    // Not by `parseAs`: its reader throws out of a listener if a hook has set an encoding.
    fastify.addContentTypeParser("*", async (_request, payload) => {
      const body = await readNodeBody(payload, maxBodyBytes)
      if (body === undefined) throw Object.assign(new Error(), { statusCode: 413 })
      return body ?? {}
    })
    // The error handler of the application could change the status for a body that is too large, and Fastify 4 would read on.
    fastify.setErrorHandler(
      ({ statusCode = 500 }, _request, reply) => void reply.code(statusCode).headers({ connection: "close" }).send()
    )
    fastify.all(path, async (request, reply) => {
      const { status, headers = {}, text } = await receive(request)
      return reply.code(status).headers(headers).send(text)
    })
    done()
  }
}
