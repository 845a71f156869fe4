/**
 * The receivers, in a process of their own: one TLS server for all names. It answers after the latency of the endpoint, with
 * 204, with 503 or never, and closes a connection after 50 requests or five idle seconds, as servers on the internet do.
 *
 * Messages: `"reset"` discards the record and is answered, `"count"` is answered with the number of first receipts at healthy
 * endpoints, `"report"` with a `Received`. The first message that it gets is its certificate; the first that it sends its port.
 */
import { once } from "node:events"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import { endpoints } from "./endpoints.ts"

export interface Received {
  readonly requests: number
  /** Milliseconds since the epoch of each first receipt of an event at a healthy endpoint. */
  readonly arrivals: ReadonlyArray<number>
  /** Milliseconds from the creation of each of them to its receipt. */
  readonly latencies: ReadonlyArray<number>
  readonly handshakes: number
  /** Handshakes with a name that a client had completed one with before. */
  readonly reconnects: number
  readonly resumed: number
}

const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))
const [certificate] = (await once(process, "message")) as [{ readonly cert: string; readonly key: string }]

let received = { requests: 0, handshakes: 0, reconnects: 0, resumed: 0 }
let arrivals: Array<number> = []
let latencies: Array<number> = []
let events = new Set<string>()
// A client process is told apart by its first handshake: contestants come one after the other.
let known = new Set<string>()

const record = (body: string): void => {
  const now = Date.now()
  const { created_at: createdAt, id } = JSON.parse(body) as { readonly id: string; readonly created_at: string }
  if (events.has(id)) return
  events.add(id)
  arrivals.push(now)
  latencies.push(now - Date.parse(createdAt))
}

const server = createServer({ ...certificate, keepAliveTimeout: 5000 }, (request, response) => {
  received.requests += 1
  const endpoint = byPath.get(request.url ?? "")
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (body += chunk))
  request.on("end", () => {
    if (endpoint === undefined) throw new Error(`Unexpected path ${request.url}`)
    if (endpoint.kind === "hangs") return
    if (endpoint.kind === "healthy") record(body)
    setTimeout(() => response.writeHead(endpoint.kind === "fails" ? 503 : 204).end(), endpoint.latencyMs)
  })
})
server.maxRequestsPerSocket = 50
server.on("secureConnection", (socket: TLSSocket) => {
  const name = String(socket.servername)
  received.handshakes += 1
  if (known.has(name)) {
    received.reconnects += 1
    if (socket.isSessionReused()) received.resumed += 1
  }
  // The client has a ticket once it has read an answer.
  const heard = () => void known.add(name)
  setTimeout(heard, 600)
})

process.on("message", (message) => {
  if (message === "count") process.send?.(arrivals.length)
  else if (message === "report") process.send?.({ ...received, arrivals, latencies } satisfies Received)
  else if (message === "reset" || message === "new client") {
    received = { requests: 0, handshakes: 0, reconnects: 0, resumed: 0 }
    arrivals = []
    latencies = []
    if (message === "new client") {
      known = new Set()
      events = new Set()
    }
    process.send?.("done")
  }
})
process.on("disconnect", () => process.exit(0))
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
