/**
 * Snippets of receivers that verify webhooks. A test runs them against a server.
 */
import type { SnippetForm } from "./SnippetForm.ts"

const secret = `process.env["GOVOICE_WEBHOOK_SECRET"]`

/** The path of an endpoint as a string of JavaScript. A URL that cannot be read gives `/`. */
const pathOf = (url: string): string => JSON.stringify(URL.canParse(url) ? new URL(url).pathname : "/")

/** The receivers on offer, for the path of this endpoint. */
export const receivers = (url: string): ReadonlyArray<SnippetForm> => {
  const path = pathOf(url)
  return [
    {
      name: "Node",
      code: `import { createHandler } from "@govoice/webhooks/node"
import { createServer } from "node:http"

const handler = createHandler({ secret: ${secret} }, ({ event }) => {
  console.log(event.type, event.data.invoice.id)
})
createServer((request, response) => {
  if (request.url === ${path}) void handler(request, response)
  else response.writeHead(404).end()
}).listen(process.env["PORT"] ?? 8080)
`
    },
    {
      name: "Express",
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
app.listen(process.env["PORT"] ?? 8080)
`
    },
    {
      name: "Fastify",
      code: `import { createHandler } from "@govoice/webhooks/fastify"
import fastify from "fastify"

const app = fastify()
const webhooks = createHandler({ secret: ${secret} }, ({ event }) => {
  console.log(event.type, event.data.invoice.id)
})
await app.register(webhooks, { path: ${path} })
await app.listen({ port: Number(process.env["PORT"] ?? 8080) })
`
    },
    {
      name: "Web",
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
      code: `import hashlib, hmac, os
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["GOVOICE_WEBHOOK_SECRET"].encode()

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        timestamp = self.headers["Gov-Timestamp"]
        expected = "v1=" + hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        signatures = [part.strip() for part in self.headers["Gov-Signature"].split(",")]
        age = abs((datetime.now(timezone.utc) - datetime.fromisoformat(timestamp)).total_seconds())
        valid = age <= 300 and any(hmac.compare_digest(expected, each) for each in signatures)
        if valid:
            print(body.decode(), flush=True)
        self.send_response(204 if valid else 400)
        self.end_headers()

HTTPServer(("", int(os.environ.get("PORT", 8080))), Receiver).serve_forever()
`
    }
  ]
}

/** A verifier for the time in which two secrets are valid. */
export const rotationVerifier: SnippetForm = {
  name: "@govoice/webhooks",
  code: `import { createVerifier } from "@govoice/webhooks"

const verifier = createVerifier({
  secrets: [process.env["NEW_WEBHOOK_SECRET"], process.env["GOVOICE_WEBHOOK_SECRET"]]
})
`
}
