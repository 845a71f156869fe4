/**
 * A service that accepts every invoice: the answer to the first request of its state is `submitted`, then `accepted`.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export const invoice = {
  id: "inv_01k9f3qg5vb1c2d3e4f5g6h7j8",
  object: "invoice",
  mode: "test",
  status: "queued",
  scenario: "accepted",
  metadata: {},
  document: null,
  verification: null,
  invoicing_mode: "online",
  official_mode: null,
  send_by: null,
  corrects: null,
  warnings: [],
  official_number: null,
  rejection: null,
  failure: null,
  upo_available: false,
  attempt_count: 0,
  next_attempt_at: null,
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  submitted_at: null,
  completed_at: null
}

export interface Service {
  readonly url: string
  /** Method and path of each request. */
  readonly requests: ReadonlyArray<string>
  readonly close: () => void
}

export const startService = async (): Promise<Service> => {
  const requests: Array<string> = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const reads = requests.filter((line) => line === requests.at(-1)).length
    const answer = request.method === "POST" ? "queued" : reads % 2 === 1 ? "submitted" : "accepted"
    const headers = { "content-type": "application/json", "access-control-allow-origin": "*" }
    response
      .writeHead(request.method === "POST" ? 201 : 200, headers)
      .end(JSON.stringify({ ...invoice, status: answer }))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
