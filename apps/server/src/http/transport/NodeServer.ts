/**
 * The HTTP server of Node with its limits, and the answers to what it cannot read as HTTP.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Problems } from "@govoice/api"
import { Effect, Layer } from "effect"
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES
} from "node:http"
import type { Duplex } from "node:stream"
import * as IdGenerator from "../../crypto/IdGenerator.ts"
import { Settings } from "../../settings/Settings.ts"
import * as Responses from "../Responses.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as ConnectionLimits from "./ConnectionLimits.ts"

/** How much the server reads, and how long it waits, in milliseconds. */
export interface Limits {
  /** The request line and all headers together, in bytes. */
  readonly maxHeaderSize: number
  /** Until the headers are complete. */
  readonly headersTimeout: number
  /** Until the whole request is complete. */
  readonly requestTimeout: number
  /** Between two requests of a connection. */
  readonly keepAliveTimeout: number
  /** Until a client reads on. */
  readonly stalledMs: number
  /** Between two checks of these times. */
  readonly connectionsCheckingInterval: number
  /** Connections at once. Others are closed as they come. */
  readonly maxConnections: number
}

/**
 * The limits of a deployment. A request has the time that the largest body takes at the minimum rate of `BodyReader`, which
 * ends slower ones long before.
 */
export const limits: Limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 60_000,
  stalledMs: 30_000,
  connectionsCheckingInterval: 2_000,
  maxConnections: 10_000
}

// How long a client has to read an answer after which the connection ends.
const closeGraceMs = 500

// Connections can be refused as fast as they come.
const warnEveryMs = 60_000

const codeOf = (error: NodeJS.ErrnoException, isInBody: boolean): Problems.Code => {
  if (error.code === "HPE_HEADER_OVERFLOW") return "headers_too_large"
  return error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isInBody ? "request_timeout" : "malformed_request"
}

// Written by hand, because there is no request to answer: Node could not read one.
const endWith = (socket: Duplex, code: Problems.Code): void => {
  const requestId = IdGenerator.at("req", Date.now())
  const problem = Problems.make(code, requestId)
  const body = JSON.stringify(problem)
  const status = Problems.status(problem)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${requestId}`,
    ...Object.entries(Responses.securityHeaders).map(([name, value]) => `${name}: ${value}`),
    "Connection: close"
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
  const timer = setTimeout(() => socket.destroy(), closeGraceMs)
  socket.once("close", () => clearTimeout(timer))
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

// Unreadable bytes may belong to a request that is answered already, or follow one whose answer is being sent.
const isAnswered = (exchange: Exchange | undefined): boolean =>
  exchange !== undefined &&
  exchange.response.headersSent &&
  !(exchange.request.complete && exchange.response.writableEnded)

const refuseUpgrades = (server: Server): void => {
  // The server speaks no other protocol, so it ignores an offer to change it (RFC 9110 §7.8).
  server.on("newListener", (event, listener) => {
    if (event === "upgrade") queueMicrotask(() => server.off("upgrade", listener as () => void))
  })
  // It ignores unknown expectations too: the request is answered as it stands.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  server.on("connect", (_request, socket: Duplex) => {
    socket.on("error", () => {})
    endWith(socket, "not_found")
  })
}

/** How many requests wait for the routes. A connection can send any number without reading an answer. */
export const maxWaiting = 1000

// The server listens before its routes are ready. Requests that come in between wait for them; without a listener, Node
// would read a request and never answer it.
const queueUntilServed = (server: Server): void => {
  let waiting: Array<Exchange> = []
  const queue = (request: IncomingMessage, response: ServerResponse) => {
    if (waiting.length >= maxWaiting) waiting = waiting.filter((one) => !one.request.socket.destroyed)
    if (waiting.length < maxWaiting) waiting.push({ request, response })
    else request.socket.destroy()
  }
  server.on("request", queue)
  const onListener = (event: string | symbol, listener: RequestListener) => {
    if (event !== "request") return
    server.off("newListener", onListener)
    server.off("request", queue)
    queueMicrotask(() => {
      for (const { request, response } of waiting) if (!response.destroyed) listener(request, response)
    })
  }
  server.on("newListener", onListener)
}

/** Makes a server that is not listening yet. */
export const make = (limits: Limits): Server => {
  // A request without Host is answered later, in the envelope. Node would answer it without.
  const server = createServer({ ...limits, joinDuplicateHeaders: true, requireHostHeader: false })
  server.maxConnections = limits.maxConnections
  const latest = new WeakMap<Duplex, Exchange>()

  server.on("request", (request, response) => latest.set(request.socket, { request, response }))
  // While the server stops, a connection that becomes idle would keep it from stopping.
  server.on("request", (_request, response) => {
    response.once("close", () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    })
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const exchange = latest.get(socket)
    if (error.code === "ECONNRESET" || !socket.writable || isAnswered(exchange)) return void socket.destroy()
    endWith(socket, codeOf(error, exchange?.request.complete === false))
  })
  refuseUpgrades(server)
  queueUntilServed(server)
  ConnectionLimits.endStalled(server, { stalledMs: limits.stalledMs, checkMs: limits.connectionsCheckingInterval })
  return server
}

/** Layer that listens where the settings say. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { connectionsPerAddress, http, trustedProxies, webhooks } = yield* Settings
    const { isProxy } = ClientAddress.make(trustedProxies)
    const runFork = Effect.runForkWith(yield* Effect.context())

    let warnedAt = -Infinity
    const warn = (address: string): void => {
      if (performance.now() - warnedAt < warnEveryMs) return
      warnedAt = performance.now()
      runFork(
        Effect.annotateLogs(
          Effect.logWarning(
            "Connection refused: its address has GOVOICE_CONNECTIONS_PER_ADDRESS connections. If it is a proxy, add it to GOVOICE_TRUSTED_PROXIES."
          ),
          { client_address: address }
        )
      )
    }

    const makeServer = (): Server => {
      const server = make(limits)
      ConnectionLimits.limitByAddress(server, {
        perAddress: connectionsPerAddress,
        isExempt: isProxy,
        onRefused: warn
      })
      return server
    }
    return NodeHttpServer.layer(makeServer, { ...http, gracefulShutdownTimeout: webhooks.timeoutMs })
  })
)
