/**
 * The HTTP server of Node with its bounds, and the answers to what it cannot read as HTTP.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { Problems } from "@govoice/api"
import { Effect, Layer } from "effect"
import { createServer, type Server, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { Problems as Envelope } from "@govoice/api"
import * as NewId from "../security/NewId.ts"
import { Settings } from "../settings/Settings.ts"

const bounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 5_000
}

const codeOf = (error: NodeJS.ErrnoException): Problems.Code =>
  error.code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "malformed_request"

// Written by hand, because there is no request to answer: Node could not read one.
const answer = (code: Problems.Code): string => {
  const requestId = NewId.at("req", Date.now())
  const problem = Envelope.make(code, requestId)
  const body = JSON.stringify(problem)
  const status = Envelope.status(problem)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    "Connection: close",
    "",
    body
  ].join("\r\n")
}

const make = (): Server =>
  createServer(bounds).on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
    socket.end(answer(codeOf(error)))
  })

/**
 * Layer that listens where the settings say.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ http, webhooks }) =>
    NodeHttpServer.layer(make, { ...http, gracefulShutdownTimeout: webhooks.timeoutMs })
  )
)
