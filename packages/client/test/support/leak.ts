/**
 * Makes 10,000 calls of all kinds to a server in the same process, and prints what remains: the growth of
 * the heap between the first and the last tenth, timers, and listeners on the signal. Run with `--expose-gc`.
 */
import { getEventListeners } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createClient } from "../../src/index.ts"
import { id, record } from "./stub.ts"

declare const gc: () => void

const server = createServer((request, response) => {
  request.resume()
  if (request.url!.includes("cut")) {
    response.socket!.destroy()
    return
  }
  if (request.url!.includes("missing")) response.statusCode = 404
  response.setHeader("content-type", request.url!.endsWith("/upo") ? "application/xml" : "application/json")
  response.end(request.url!.endsWith("/upo") ? "<a/>" : JSON.stringify(record))
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const { signal } = new AbortController()
const client = createClient({
  apiKey: "sk_test_leak",
  baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  maxRetries: 0
})

const calls: ReadonlyArray<() => Promise<unknown>> = [
  () => client.invoices.get(id, { signal }),
  () => client.invoices.submit({ invoiceXml: "<a/>" }, { signal }),
  () => client.invoices.get("missing", { signal }),
  () => client.invoices.get("cut", { signal }),
  async () => (await client.invoices.downloadUpo(id, { signal })).text(),
  () => client.invoices.get(id, { signal: AbortSignal.abort() }),
  () => client.invoices.get(id, { signal, timeoutMs: 0 })
]

const used = (): number => {
  gc()
  gc()
  return process.memoryUsage().heapUsed
}

const total = 10_000
const batch = 50
let early = 0
for (let made = 0; made < total; made += batch) {
  await Promise.all(Array.from({ length: batch }, (_, index) => calls[index % calls.length]!().catch(() => {})))
  if (made + batch === total / 10) early = used()
}
const late = used()
server.closeAllConnections()
server.close()
console.log(
  JSON.stringify({
    calls: total,
    grownBytes: late - early,
    timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    listeners: getEventListeners(signal, "abort").length
  })
)
process.exit()
