/**
 * The HTTP server of Node with its limits, and the answers to what it cannot read as HTTP.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Problems } from "@govoice/api"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as IdGenerator from "../../crypto/IdGenerator.ts"
import { Settings } from "../../settings/Settings.ts"
import * as Responses from "../Responses.ts"
import * as ClientAddress from "./ClientAddress.ts"
import * as ConnectionLimits from "./ConnectionLimits.ts"
import * as StartProgress from "../../observability/StartProgress.ts"
import * as Turns from "./Turns.ts"

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

// Node has raised the soft limit to the hard one. Unknown where there is no `/proc`.
const openFiles = (): number => {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

/**
 * The limits of a deployment. Half of the open files of the process are left to the database and to receivers. A request has the time
 * that the largest body takes at the minimum rate of `BodyReader`, which ends slower ones long before.
 */
export const limits: Limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 60_000,
  stalledMs: 30_000,
  connectionsCheckingInterval: 2_000,
  maxConnections: Math.min(10_000, Math.floor(openFiles() / 2))
}

// Connections can be refused as fast as they come.
const warnEveryMs = 60_000

const codeOf = (error: NodeJS.ErrnoException, isInBody: boolean): Problems.Code => {
  if (error.code === "HPE_HEADER_OVERFLOW") return "headers_too_large"
  return error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isInBody ? "request_timeout" : "malformed_request"
}

const problem = (code: Problems.Code, message?: string) => {
  const requestId = IdGenerator.at("req", Date.now())
  const body = Problems.make(code, requestId, { message })
  const status = Problems.status(body)
  const text = JSON.stringify(body)
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    "Request-Id": requestId,
    ...Responses.securityHeaders
  }
  return { status, headers, text }
}

// Written by hand, because there is no request to answer: Node could not read one.
const endWith = (socket: Duplex, code: Problems.Code): void => {
  const { headers, status, text } = problem(code)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close"
  ]
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`)
  Turns.closeSoon(socket)
}

// Unreadable bytes may belong to a request that is answered already, or follow one whose answer is being sent.
const isAnswered = (exchange: Turns.Latest | undefined): boolean =>
  exchange !== undefined &&
  exchange.response.headersSent &&
  !(exchange.request.complete && exchange.response.writableEnded)

const refuseUpgrades = (server: Server): void => {
  // The server speaks no other protocol, so it ignores an offer to change it (RFC 9110 §7.8).
  server.on("newListener", (event, listener) => {
    if (event === "upgrade") queueMicrotask(() => server.off("upgrade", listener as () => void))
  })
  server.on("connect", (_request, socket: Duplex) => endWith(socket, "not_found"))
}

// The server listens before its routes are ready, so that probes learn why it is not.
const answerUntilServed = (server: Server, reason: () => string): void => {
  const answer = ({ url }: IncomingMessage, response: ServerResponse): void => {
    if (url?.split("?", 1)[0] === "/healthz") {
      response.writeHead(200, { "Content-Type": "application/json", ...Responses.securityHeaders })
      return void response.end(JSON.stringify({ status: "ok" }))
    }
    const { headers, status, text } = problem("service_unavailable", reason())
    response.writeHead(status, { ...headers, "Retry-After": "1" }).end(text)
  }
  const onListener = (event: string | symbol): void => {
    if (event !== "request") return
    server.off("newListener", onListener)
    server.off("request", answer)
  }
  server.on("request", answer)
  server.on("newListener", onListener)
}

/**
 * Makes a server that is not listening yet. Until somebody listens to its requests, it answers that it is alive and, with the
 * reason, that it is unavailable.
 */
export const make = (limits: Limits, reason: () => string = () => StartProgress.starting): Server => {
  // A request without Host is answered later, in the envelope. Node would answer it without.
  const server = createServer({ ...limits, joinDuplicateHeaders: true, requireHostHeader: false })
  server.maxConnections = limits.maxConnections
  const latest = Turns.take(server, {
    maxHeldBytes: limits.maxHeaderSize,
    closeMs: limits.keepAliveTimeout,
    // While the server stops, a connection that becomes idle would keep it from stopping.
    onAnswered: () => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    }
  })

  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const exchange = latest(socket)
    if (error.code === "ECONNRESET" || !socket.writable || isAnswered(exchange)) return void socket.destroy()
    endWith(socket, codeOf(error, exchange?.request.complete === false))
  })
  refuseUpgrades(server)
  answerUntilServed(server, reason)
  ConnectionLimits.endStalled(server, { stalledMs: limits.stalledMs, checkMs: limits.connectionsCheckingInterval })
  return server
}

/** Layer that listens where the settings say. */
export const layerWith = (limits: Limits) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { connectionsPerAddress, http, trustedProxies, webhooks } = yield* Settings
      const { isProxy } = ClientAddress.make(trustedProxies)
      const runFork = Effect.runForkWith(yield* Effect.context())

      const makeWarn = (message: string) => {
        let warnedAt = -Infinity
        return (annotations: Readonly<Record<string, string>> = {}): void => {
          if (performance.now() - warnedAt < warnEveryMs) return
          warnedAt = performance.now()
          runFork(Effect.annotateLogs(Effect.logWarning(`Connection refused: ${message}`), annotations))
        }
      }
      const warnOfAddress = makeWarn(
        "its address has GOVOICE_CONNECTIONS_PER_ADDRESS connections. If it is a proxy, add it to GOVOICE_TRUSTED_PROXIES."
      )
      const warnOfAll = makeWarn(`the server has ${limits.maxConnections} connections, the most it takes.`)

      const progress = yield* StartProgress.StartProgress

      const makeServer = (): Server => {
        const server = make(limits, () => progress.reason)
        ConnectionLimits.limitByAddress(server, {
          perAddress: connectionsPerAddress,
          isExempt: isProxy,
          onRefused: (network) => warnOfAddress({ client_address: network })
        })
        // Node has closed it.
        server.on("drop", () => warnOfAll())
        return server
      }
      return NodeHttpServer.layer(makeServer, { ...http, gracefulShutdownTimeout: webhooks.timeoutMs })
    })
  )

/** Layer with the limits of a deployment. */
export const layer = layerWith(limits)
