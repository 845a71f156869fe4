/** Servers on the loopback interface with each adapter: node:http, Express 4 and 5, Fastify 4 and 5, and handlers of `Request`. */
import type { VerifiedWebhook } from "@govoice/webhooks"
import { createHandler as createExpressHandler } from "@govoice/webhooks/express"
import { createHandler as createFastifyHandler } from "@govoice/webhooks/fastify"
import { createHandler as createNodeHandler, type HandlerOptions } from "@govoice/webhooks/node"
import { createHandler as createWebHandler } from "@govoice/webhooks/web"
import express5 from "express"
import fastify5 from "fastify"
import fastify4 from "fastify4"
import { Hono } from "hono"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { createRequire } from "node:module"
import { afterTest } from "../../../../test/support/afterTest.ts"

// Express 4 has no types. The parts used here have the types of Express 5.
export const express4 = createRequire(import.meta.url)("express4") as typeof express5

export const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

export type OnWebhook = (webhook: VerifiedWebhook) => unknown
export type Start = (options: HandlerOptions, onWebhook: OnWebhook) => Promise<string>

export const closers: Array<() => Promise<unknown>> = []
afterTest(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

export const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

type ExpressApp = ReturnType<typeof express5>

export const startExpress =
  (express: typeof express5, prepare: (app: ExpressApp) => void = () => {}): Start =>
  (options, onWebhook) => {
    const app = express()
    prepare(app)
    app.use("/webhooks", createExpressHandler(options, onWebhook))
    return listen(app)
  }

export const startFastify =
  (fastify: typeof fastify5): Start =>
  async (options, onWebhook) => {
    const app = fastify()
    // The error handler of the application must not change the answers of the plugin.
    app.setErrorHandler((_error, _request, reply) => reply.code(418).send())
    app.post("/json", (request) => request.body)
    await app.register(createFastifyHandler(options, onWebhook), { path: "/webhooks" })
    closers.push(() => app.close())
    return `${await app.listen({ port: 0, host: "127.0.0.1" })}/webhooks`
  }

/** Serves a handler of `Request` over HTTP for the suite. */
export const startWeb =
  (
    route: (handler: (request: Request) => Promise<Response>) => (request: Request) => Response | Promise<Response>
  ): Start =>
  (options, onWebhook) => {
    const fetch = route(createWebHandler(options, onWebhook))
    return listen((incoming, outgoing) => {
      const body = incoming.method === "GET" ? null : ReadableStream.from(incoming)
      const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
        (values ?? []).map((value): [string, string] => [name, value])
      )
      const request = new Request("http://127.0.0.1/webhooks", {
        method: incoming.method!,
        headers,
        body,
        duplex: "half"
      })
      void Promise.resolve(fetch(request)).then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers))
        outgoing.end(Buffer.from(await response.arrayBuffer()))
      })
    })
  }

export const adapters: ReadonlyArray<[name: string, start: Start]> = [
  [
    "node:http",
    (options, onWebhook) => {
      const handler = createNodeHandler(options, onWebhook)
      return listen((request, response) => void handler(request, response))
    }
  ],
  ["Express 5", startExpress(express5)],
  ["Express 4", startExpress(express4)],
  [
    "Express behind express.raw()",
    startExpress(express5, (app) => app.use(express5.raw({ type: "*/*", limit: "10mb" })))
  ],
  [
    "Express behind express.text()",
    startExpress(express5, (app) => app.use(express5.text({ type: "*/*", limit: "10mb" })))
  ],
  [
    "Express behind express.json() that keeps the raw body",
    startExpress(express5, (app) =>
      app.use(
        express5.json({
          limit: "10mb",
          verify: (request, _response, body) => Object.assign(request, { rawBody: body })
        })
      )
    )
  ],
  ["Fastify 5", startFastify(fastify5)],
  ["Fastify 4", startFastify(fastify4 as unknown as typeof fastify5)],
  ["Fetch", startWeb((handler) => handler)],
  [
    "Hono",
    startWeb((handler) => {
      const app = new Hono()
      app.all("/webhooks", (context) => handler(context.req.raw))
      return (request) => app.fetch(request)
    })
  ]
]

export const post = (
  url: string,
  { body, headers }: { readonly body: string; readonly headers: Record<string, string> }
) => fetch(url, { method: "POST", body, headers })
