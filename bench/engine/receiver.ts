/**
 * The receiver of the benchmarks, in a separate process. It answers 204 at once, or never below `/hang`, and records
 * arrivals.
 *
 * Messages: `"reset"` discards the record, `"count"` is answered with the number of requests, `"report"` with a `Received`.
 * The first message that it sends is its port.
 */
import { createServer } from "node:http"

export interface Received {
  readonly count: number
  readonly distinct: number
  /** Arrival of the first and the last request, in milliseconds since the epoch. */
  readonly first: number
  readonly last: number
  /** Sorted milliseconds from the creation of an event to its receipt, for bodies with `created_at`. */
  readonly latencies: ReadonlyArray<number>
}

let count = 0
let first = 0
let last = 0
let ids = new Set<string>()
let latencies: Array<number> = []

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const now = Date.now()
  let body = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => (body += chunk))
  request.on("end", () => {
    if (request.url?.startsWith("/hang")) return
    count += 1
    first ||= now
    last = now
    const id = request.headers["gov-event-id"]
    if (typeof id === "string") ids.add(id)
    const at = body.indexOf('"created_at":"')
    if (at >= 0) latencies.push(now - Date.parse(body.slice(at + 14, at + 38)))
    response.writeHead(204).end()
  })
})

process.on("message", (message) => {
  if (message === "count") {
    process.send?.(count)
  } else if (message === "report") {
    const sorted = latencies.toSorted((left, right) => left - right)
    process.send?.({ count, distinct: ids.size, first, last, latencies: sorted } satisfies Received)
  } else if (message === "reset") {
    count = first = last = 0
    ids = new Set()
    latencies = []
    process.send?.("reset")
  }
})
process.on("disconnect", () => process.exit(0))

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : 0)
})
