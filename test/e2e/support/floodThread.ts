/** The thread of a flood. */
import { randomUUID } from "node:crypto"
import { Agent, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { parentPort, workerData } from "node:worker_threads"
import type { FloodOptions, FloodRequest } from "./flood.ts"

interface Answer {
  readonly status: number
  readonly retryAfterMs: number
}

const send = (agent: Agent, port: number, { auth, body, method, path }: FloodRequest): Promise<Answer> =>
  new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${auth}`,
      ...(body === undefined ? {} : { "content-type": "application/json", "idempotency-key": randomUUID() })
    }
    const sent = request({ agent, host: "127.0.0.1", port, method, path, headers }, (response) => {
      const retryAfterMs = 1000 * Number(response.headers["retry-after"] ?? 0)
      response.resume().once("close", () => resolve({ status: response.statusCode ?? 0, retryAfterMs }))
    })
    sent.on("error", () => resolve({ status: 0, retryAfterMs: 10 }))
    sent.end(body)
  })

const run = async ({ connections, isPolite, port, requests }: FloodOptions): Promise<void> => {
  const stopping = new AbortController()
  parentPort!.once("message", () => stopping.abort())
  const statuses: Record<number, number> = {}
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const connection = async (first: number) => {
    for (let turn = first; !stopping.signal.aborted; turn++) {
      const { retryAfterMs, status } = await send(agent, port, requests[turn % requests.length]!)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (retryAfterMs > 0 && isPolite) {
        await sleep(retryAfterMs, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, first) => connection(first)))
  agent.destroy()
  parentPort!.postMessage(statuses)
}

void run(workerData as FloodOptions)
