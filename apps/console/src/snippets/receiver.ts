/**
 * Snippets of receivers that verify webhooks. A test runs them against a server.
 */
import { python } from "../generated/receivers.ts"
import type { SnippetForm } from "./SnippetForm.ts"

const secret = `process.env["WEBHOOK_SECRET"]`

/** The path of an endpoint as a string of JavaScript. A URL that cannot be read gives `/`. */
const pathOf = (url: string): string => JSON.stringify(URL.canParse(url) ? new URL(url).pathname : "/")

/** The port of an endpoint. A URL without one is behind a proxy, and the receiver where that expects it. */
const portOf = (url: string): number => (URL.canParse(url) && Number(new URL(url).port)) || 8080

const modules = (...others: ReadonlyArray<string>) => ({
  install: ["npm install @govoice/webhooks", ...others].join(" "),
  file: "receiver.mjs"
})

/** The receivers on offer, for the port and the path of this endpoint. */
export const receivers = (url: string): ReadonlyArray<SnippetForm> => {
  const path = pathOf(url)
  const port = portOf(url)
  return [
    {
      name: "Node",
      ...modules(),
      run: "node receiver.mjs",
      code: `import { createHandler } from "@govoice/webhooks/node"
import { createServer } from "node:http"

const handler = createHandler({ secret: ${secret} }, ({ event }) => {
  console.log(event.type, event.data.invoice.id)
})
createServer((request, response) => {
  if (request.url === ${path}) void handler(request, response)
  else response.writeHead(404).end()
}).listen(process.env["PORT"] ?? ${port})
`
    },
    {
      name: "Express",
      ...modules("express"),
      run: "node receiver.mjs",
      code: `import { createHandler } from "@govoice/webhooks/express"
import express from "express"

const app = express()
// Mount it before express.json(): the signature covers the raw body.
app.post(
  ${path},
  createHandler({ secret: ${secret} }, ({ event }) => {
    console.log(event.type, event.data.invoice.id)
  })
)
app.listen(process.env["PORT"] ?? ${port})
`
    },
    {
      name: "Fastify",
      ...modules("fastify"),
      run: "node receiver.mjs",
      code: `import { createHandler } from "@govoice/webhooks/fastify"
import fastify from "fastify"

const app = fastify()
const webhooks = createHandler({ secret: ${secret} }, ({ event }) => {
  console.log(event.type, event.data.invoice.id)
})
await app.register(webhooks, { path: ${path} })
await app.listen({ port: Number(process.env["PORT"] ?? ${port}) })
`
    },
    {
      name: "Web",
      ...modules(),
      run: "bun receiver.mjs",
      code: `import { createHandler } from "@govoice/webhooks/web"

// Hono, Next.js, Workers, Deno, Bun: every framework with a Request.
const handler = createHandler({ secret: ${secret} }, ({ event }) => {
  console.log(event.type, event.data.invoice.id)
})

export default {
  fetch: (request) =>
    new URL(request.url).pathname === ${path} ? handler(request) : new Response(null, { status: 404 })
}
`
    },
    {
      name: "Python",
      file: "receiver.py",
      run: "python3 receiver.py",
      code: `${python}
import os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        secrets = [os.environ["WEBHOOK_SECRET"]]
        event = verify(secrets, self.headers.items(), body, time.time() * 1000)
        if event is not None:
            print(event["type"], event["id"], flush=True)
        self.send_response(400 if event is None else 204)
        self.end_headers()

HTTPServer(("", int(os.environ.get("PORT", ${port}))), Receiver).serve_forever()
`
    }
  ]
}

/** A verifier for the time in which two secrets are valid. */
export const rotationVerifier: SnippetForm = {
  name: "@govoice/webhooks",
  code: `import { createVerifier } from "@govoice/webhooks"

const verifier = createVerifier({
  secrets: [process.env["NEW_WEBHOOK_SECRET"], process.env["WEBHOOK_SECRET"]]
})
`
}
