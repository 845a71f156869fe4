/**
 * A receiver whose behavior depends on the path. It records the requests.
 *
 * - `/ok` verifies and answers 204, `/slow` does so after `slowMs`, `/flaky` from the second request for an event on
 * - `/hang` never answers, `/drip` sends its head one byte at a time, `/reset` resets the connection
 * - `/redirect` redirects to `/ok`, `/rubbish` sends bytes that are not HTTP, `/endless` never ends its body
 * - `/busy` answers 429 with a `Retry-After`, `/gone` 410
 */
import { createVerifier } from "@govoice/webhooks"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** How long `/slow` takes, in milliseconds. */
export const slowMs = 400

export interface Receipt {
  readonly path: string
  readonly eventId: string
}

export interface Receiver {
  readonly port: number
  readonly url: (path: string) => string
  /** Every request that came with a signature that is right, in order. */
  readonly receipts: ReadonlyArray<Receipt>
  /** Faults of requests, if any. */
  readonly faults: ReadonlyArray<string>
  /** Signatures are checked with the secret of the path, query included. */
  readonly learn: (path: string, secret: string) => void
  /** How many requests below `/slow` there were at once, at most. */
  readonly peak: () => number
  readonly close: () => Promise<void>
}

export const startReceiver = async (): Promise<Receiver> => {
  const receipts: Array<Receipt> = []
  const faults: Array<string> = []
  const seen = new Map<string, number>()
  const verifiers = new Map<string, ReturnType<typeof createVerifier>>()

  let active = 0
  let peak = 0

  const answer = (path: string, request: IncomingMessage, response: ServerResponse, times: number) => {
    const { socket } = request
    switch (path.split("?")[0]) {
      case "/ok":
        return response.writeHead(204).end()
      case "/slow":
        active += 1
        peak = Math.max(peak, active)
        setTimeout(() => {
          active -= 1
          response.writeHead(204).end()
        }, slowMs)
        return undefined
      case "/flaky":
        return response.writeHead(times > 1 ? 200 : 503).end()
      case "/hang":
        return undefined
      case "/drip": {
        const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Filler: ".split("")
        const timer = setInterval(
          () => (socket.destroyed ? clearInterval(timer) : socket.write(head.shift() ?? "x")),
          50
        )
        return undefined
      }
      case "/reset":
        return socket.resetAndDestroy()
      case "/redirect":
        return response.writeHead(302, { location: "/ok" }).end()
      case "/rubbish":
        return socket.end("\u0000\u0001 this is not HTTP \u00ff\r\n\r\n")
      case "/endless": {
        response.writeHead(200)
        const timer = setInterval(
          () => (socket.destroyed ? clearInterval(timer) : response.write("x".repeat(16_384))),
          5
        )
        return undefined
      }
      case "/busy":
        return response.writeHead(times > 1 ? 204 : 429, { "retry-after": "1" }).end()
      default:
        return response.writeHead(410).end()
    }
  }

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("error", () => {})
    response.on("error", () => {})
    request.on("end", () => {
      const path = request.url ?? ""
      try {
        const verifier = verifiers.get(path)
        if (verifier === undefined) throw new Error(`a request to the unknown path ${path}`)
        const { id } = verifier.verifySync(Buffer.concat(chunks), request.headers)
        receipts.push({ path, eventId: id })
        const key = `${path} ${id}`
        seen.set(key, (seen.get(key) ?? 0) + 1)
        answer(path, request, response, seen.get(key)!)
      } catch (error) {
        faults.push(String(error))
        response.writeHead(500).end()
      }
    })
  })
  server.on("connection", (socket) => socket.on("error", () => {}))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    receipts,
    faults,
    peak: () => peak,
    learn: (path, secret) => verifiers.set(path, createVerifier({ secret })),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}
