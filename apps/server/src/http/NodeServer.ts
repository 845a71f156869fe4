/**
 * The HTTP server of Node with its bounds, and the answers to what it cannot read as HTTP.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Problems } from "@govoice/api"
import { Effect, Layer } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as NewId from "../security/NewId.ts"
import { Settings } from "../settings/Settings.ts"

/**
 * How much the server reads, and how long it waits for it, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bounds {
  /** The request line and all headers together, in bytes. */
  readonly maxHeaderSize: number
  /** Until the headers have to be here. */
  readonly headersTimeout: number
  /** Until the whole request has to be here. */
  readonly requestTimeout: number
  /** How long a connection may rest between requests. */
  readonly keepAliveTimeout: number
  /** How often the server looks for what took too long. */
  readonly connectionsCheckingInterval: number
  /** How many connections there are at most. Others are closed as they come. */
  readonly maxConnections: number
}

/**
 * The bounds of a deployment.
 *
 * @category constants
 * @since 0.1.0
 */
export const bounds: Bounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  maxConnections: 10_000
}

const codeOf = (error: NodeJS.ErrnoException): Problems.Code =>
  error.code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "malformed_request"

// Written by hand, because there is no request to answer: Node could not read one.
const answer = (code: Problems.Code): string => {
  const requestId = NewId.at("req", Date.now())
  const problem = Problems.make(code, requestId)
  const body = JSON.stringify(problem)
  const status = Problems.status(problem)
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

// Two values of a header that takes one would read as one value with a comma in it, which may be somebody else's key.
const partRepeated = (name: string) => (request: IncomingMessage) => {
  if (request.headers[name]?.includes(",") !== true) return
  const values = request.headersDistinct[name] ?? []
  if (values.length > 1) request.headers[name] = values.join("\n")
}

// What cannot be read may belong to a request that is answered already, or stand in the way of its answer.
const isAnswered = (
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
): boolean =>
  exchange !== undefined &&
  exchange.response.headersSent &&
  !(exchange.request.complete && exchange.response.writableEnded)

const refuseUpgrades = (server: Server): void => {
  // Nothing here speaks another protocol, so an offer to change it is passed over (RFC 9110 §7.8).
  server.on("newListener", (event, listener) => {
    if (event === "upgrade") queueMicrotask(() => server.off("upgrade", listener as () => void))
  })
  // An expectation that nobody knows is passed over as well: the request is answered as it stands.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("connect", (_request, socket: Duplex) => {
    socket.on("error", () => {})
    socket.end(answer("not_found"))
  })
}

/**
 * Makes a server that is not listening yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (bounds: Bounds): Server => {
  // A missing Host has an answer of its own, so Node must not answer it without an envelope.
  const server = createServer({ ...bounds, joinDuplicateHeaders: true, requireHostHeader: false })
  server.maxConnections = bounds.maxConnections
  const latest = new WeakMap<Duplex, { readonly request: IncomingMessage; readonly response: ServerResponse }>()

  server.on("request", partRepeated("idempotency-key"))
  server.on("request", (request, response) => latest.set(request.socket, { request, response }))
  // A connection that rests again while the server stops would keep it from stopping.
  server.on("request", (_request, response) => {
    response.once("close", () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable || isAnswered(latest.get(socket))) return void socket.destroy()
    socket.end(answer(codeOf(error)))
  })
  refuseUpgrades(server)
  return server
}

/**
 * Layer that listens where the settings say.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ http, webhooks }) =>
    NodeHttpServer.layer(() => make(bounds), { ...http, gracefulShutdownTimeout: webhooks.timeoutMs })
  )
)
