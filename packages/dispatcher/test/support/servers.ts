/** Receivers on loopback, and dispatchers that may send to them. */
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import { type DispatcherOptions, type DispatchRequest, makeDispatcher, type Outcome } from "@govoice/dispatcher"
import { vi } from "vitest"
import { afterTest } from "../../../../test/support/afterTest.ts"
import type { Certificate } from "./certificates.ts"

const cleanups: Array<() => unknown> = []

/** Registers a cleanup. Cleanups run after the test, the last one first. */
export const cleanup = (run: () => unknown): void => {
  cleanups.push(run)
}

afterTest(async () => {
  for (let run = cleanups.pop(); run !== undefined; run = cleanups.pop()) await run()
})

export const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds))

/**
 * Passes many turns of the event loop, so that each socket handles the bytes that have arrived. A single longer timer does
 * not: after a pause of the process, it fires before the sockets are polled.
 */
export const passTurns = async (count = 30): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await sleep(5)
}

/** Waits until a condition holds, and fails after 50 s. */
export const until = async (condition: () => boolean, what = "the condition"): Promise<void> => {
  const end = performance.now() + 50_000
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited 50 s for ${what}`)
    await sleep(5)
  }
}

/** Returns the least of three measurements in milliseconds, because other work on the machine can delay one. */
export const leastOfThree = async (measure: () => Promise<number>): Promise<number> =>
  Math.min(await measure(), await measure(), await measure())

/** Moves `performance.now` ahead until the test ends. */
export const later = (milliseconds: number): void => {
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + milliseconds)
  cleanup(() => spy.mockRestore())
}

/** A server and its record of connections and requests. */
export interface Receiver {
  readonly port: number
  readonly address: string
  /** Connections that were accepted, ever. */
  readonly connections: number
  /** Connections that are open. */
  readonly open: number
  readonly requests: ReadonlyArray<http.IncomingMessage>
  readonly bodies: ReadonlyArray<string>
}

class Seen implements Receiver {
  port = 0
  address = ""
  connections = 0
  readonly sockets = new Set<net.Socket>()
  readonly requests: Array<http.IncomingMessage> = []
  readonly bodies: Array<string> = []

  get open(): number {
    return this.sockets.size
  }
}

const listen = async (server: net.Server, seen: Seen, address: string, port: number): Promise<Receiver> => {
  server.on("connection", (socket: net.Socket) => {
    seen.connections++
    seen.sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => seen.sockets.delete(socket))
  })
  await new Promise<void>((done, failed) => server.once("error", failed).listen(port, address, done))
  seen.port = (server.address() as net.AddressInfo).port
  seen.address = address
  cleanup(() => {
    for (const socket of seen.sockets) socket.destroy()
    return new Promise((done) => server.close(done))
  })
  return seen
}

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

const counting =
  (seen: Seen, listener: Listener): http.RequestListener =>
  (request, response) => {
    seen.requests.push(request)
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      seen.bodies.push(Buffer.concat(chunks).toString())
      listener(request, response)
    })
  }

const ok: Listener = (_request, response) => response.end("ok")

interface Where {
  readonly address?: string
  readonly port?: number
}

export const serveHttp = (listener: Listener = ok, { address = "127.0.0.1", port = 0 }: Where = {}) => {
  const seen = new Seen()
  return listen(http.createServer({ keepAliveTimeout: 60_000 }, counting(seen, listener)), seen, address, port)
}

export const serveHttps = (
  certificate: Certificate & https.ServerOptions,
  listener: Listener = ok,
  { address = "127.0.0.1", port = 0 }: Where = {}
) => {
  const seen = new Seen()
  const server = https.createServer({ keepAliveTimeout: 60_000, ...certificate }, counting(seen, listener))
  server.on("tlsClientError", () => {})
  return listen(server, seen, address, port)
}

/** Sends bytes of the test's choice. `onRequest` is called once for each connection, with its first bytes. */
export const serveRaw = (
  onRequest: (socket: net.Socket, received: Buffer) => void,
  { onConnection, ...where }: Where & { readonly onConnection?: (socket: net.Socket) => void } = {}
) => {
  const seen = new Seen()
  const server = net.createServer((socket) => {
    onConnection?.(socket)
    socket.once("data", (received) => onRequest(socket, received))
  })
  return listen(server, seen, where.address ?? "127.0.0.1", where.port ?? 0)
}

/** A port without a listener. */
export const unusedPort = async (): Promise<number> => {
  const server = net.createServer()
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as net.AddressInfo
  await new Promise((done) => server.close(done))
  return port
}

/** Every name is 127.0.0.1, and loopback over `http:` is allowed. The deadline is long enough for a busy machine. */
export const local = {
  allowHttp: true,
  allowNetworks: ["127.0.0.0/8"],
  deadlineMs: 20_000,
  resolve: async () => ["127.0.0.1"]
} satisfies DispatcherOptions

export const dispatcher = (options: DispatcherOptions = {}) => {
  const made = makeDispatcher({ ...local, ...options })
  cleanup(() => made.close())
  return made
}

/** One attempt by a new dispatcher. */
export const sendOnce = (
  url: string,
  options: DispatcherOptions = {},
  request: Partial<DispatchRequest> = {}
): Promise<Outcome> => dispatcher(options).send({ url, body: "{}", ...request })

/** An outcome without its timing. */
export const stable = (outcome: Outcome): Record<string, unknown> => {
  const { durationMs, ...rest } = outcome
  if (typeof durationMs !== "number" || !(durationMs >= 0)) throw new Error("durationMs is not a duration")
  return rest
}

export const failed = (reason: string, attempted: boolean) => ({ _tag: "Failed", reason, retryable: true, attempted })
export const blocked = (rule: string) => ({ _tag: "Blocked", rule, retryable: false, attempted: false })
export const delivered = (status = 200) => ({ _tag: "Delivered", status, attempted: true })
