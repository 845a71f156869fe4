/**
 * A plugin for Fastify 4 and 5.
 *
 * @module
 */
import type { WebhookBody } from "./body.ts"
import { makeReceive, type HandlerOptions, type OnWebhook } from "./internal/receive.ts"

export type { HandlerOptions, OnWebhook } from "./internal/receive.ts"

/** What is used of a Fastify request. */
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

/** What is used of a Fastify instance. */
export interface FastifyWebhookInstance<Request> {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: "*",
    options: { parseAs: "buffer"; bodyLimit?: number },
    parser: (request: Request, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void
  ): unknown
  setErrorHandler(handler: (error: { statusCode?: number }, request: Request, reply: Reply) => void): unknown
  all(path: string, handler: (request: Request, reply: Reply) => Promise<unknown>): unknown
}

/**
 * Makes a plugin that verifies webhooks at one path and answers for them: `fastify.register(plugin, { path })`.
 *
 * **Details**
 *
 * The answers are those of `@govoice/webhooks/node`. The plugin takes the content type parsers away within itself, so
 * that the body stays raw; the rest of the application keeps them.
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
 */
export const createHandler = <Request extends FastifyWebhookRequest>(
  options: HandlerOptions,
  onWebhook: OnWebhook<Request>
) => {
  const receive = makeReceive(options, onWebhook, async ({ body }: Request) => (body ?? "") as WebhookBody)
  const { maxBodyBytes: bodyLimit = 2 ** 20 } = options
  return (fastify: FastifyWebhookInstance<Request>, { path }: { readonly path: string }, done: () => void): void => {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser("*", { parseAs: "buffer", bodyLimit }, (_request, body, done) => done(null, body))
    // The application's own handler might answer a body that is too large in another way.
    fastify.setErrorHandler(({ statusCode = 500 }, _request, reply) => void reply.code(statusCode).send())
    fastify.all(path, async (request, reply) => {
      const { status, headers = {}, text } = await receive(request)
      return reply.code(status).headers(headers).send(text)
    })
    done()
  }
}
