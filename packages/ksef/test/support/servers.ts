/** Servers on loopback, good and bad, and clients that call them. */
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import type * as tls from "node:tls"
import { Environment, type KsefError, KsefClient, type Options } from "@govoice/ksef/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Result from "effect/Result"
import { afterTest } from "../../../../test/support/afterTest.ts"

const cleanups: Array<() => unknown> = []

/** Runs after the test, the last first. */
export const cleanup = (run: () => unknown): void => void cleanups.push(run)

afterTest(async () => {
  for (let run = cleanups.pop(); run !== undefined; run = cleanups.pop()) await run()
})

/** A request as a server received it. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

/** A server and what it saw. */
export interface Server {
  readonly port: number
  readonly received: ReadonlyArray<Received>
  /** Connections that were accepted, ever. */
  readonly connections: () => number
  /** Connections that are open. */
  readonly open: () => number
  /** Bytes that were written to connections. */
  readonly written: () => number
}

const listen = async (server: net.Server, received: Array<Received> = []): Promise<Server> => {
  const sockets = new Set<net.Socket>()
  const all: Array<net.Socket> = []
  server.on("connection", (socket: net.Socket) => {
    all.push(socket)
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((done, failed) => server.once("error", failed).listen(0, "127.0.0.1", done))
  cleanup(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((done) => server.close(done))
  })
  return {
    port: (server.address() as net.AddressInfo).port,
    received,
    connections: () => all.length,
    open: () => sockets.size,
    written: () => all.reduce((total, socket) => total + socket.bytesWritten, 0)
  }
}

type Respond = (response: http.ServerResponse, request: Received) => unknown

const recording =
  (received: Array<Received>, respond: Respond): http.RequestListener =>
  (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("error", () => {})
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { headers, method = "", url = "" } = request
      const entry = { method, path: url, headers, body: Buffer.concat(chunks) }
      received.push(entry)
      respond(response, entry)
    })
  }

export const serveHttp = (respond: Respond): Promise<Server> => {
  const received: Array<Received> = []
  return listen(http.createServer(recording(received, respond)), received)
}

export const serveHttps = (options: tls.TlsOptions, respond: Respond): Promise<Server> => {
  const received: Array<Received> = []
  const server = https.createServer(options, recording(received, respond))
  server.on("tlsClientError", () => {})
  return listen(server, received)
}

/** Speaks whatever the test writes. `onData` is called with what came so far, each time more comes. */
export const serveRaw = (onData: (socket: net.Socket, received: string) => void): Promise<Server> =>
  listen(
    net.createServer((socket) => {
      let received = ""
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1")
        onData(socket, received)
      })
    })
  )

/** Answers each request with these bytes, once all of it is there, and does not close. */
export const serveBytes = (...bytes: ReadonlyArray<string>): Promise<Server> =>
  serveRaw((socket, received) => {
    const [head = "", body = ""] = received.split("\r\n\r\n")
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.includes("\r\n\r\n") && body.length >= length) for (const part of bytes) socket.write(part)
  })

/** An answer in JSON, with its length. */
export const json = (value: unknown, status = "200 OK", headers = ""): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

export const environmentAt = (url: string): Environment.Environment => Result.getOrThrow(Environment.at(url))

interface Logged {
  readonly level: string
  readonly text: string
}

/** The log lines of every level. */
export const recordLogs = (logs: Array<Logged>) =>
  Layer.mergeAll(
    Logger.layer([
      Logger.make<unknown, void>((options) => {
        logs.push({ level: options.logLevel, text: Logger.formatLogFmt.log(options) })
      })
    ]),
    Layer.succeed(References.MinimumLogLevel)("All")
  )

/** Runs a program with a client of a server, and returns how it ended, with what was logged. */
export const withClient = async <A>(
  options: Partial<Options> & { readonly url?: string },
  run: (client: KsefClient.KsefClient) => Effect.Effect<A, KsefError>
): Promise<{ readonly result: Result.Result<A, KsefError>; readonly logs: ReadonlyArray<Logged> }> => {
  const { url, ...rest } = options
  const logs: Array<Logged> = []
  const program = Effect.gen(function* () {
    const client = yield* KsefClient.make({
      environment: environmentAt(url ?? "http://127.0.0.1:1/v2"),
      userAgent: "Govoice/0.0.0-test",
      ...rest
    })
    return yield* Effect.result(run(client))
  })
  const result = await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(recordLogs(logs))))
  return { result, logs }
}

/** Fails the test unless the program failed, and returns its error. */
export const failure = async (
  options: Parameters<typeof withClient>[0],
  run: (client: KsefClient.KsefClient) => Effect.Effect<unknown, KsefError>
): Promise<KsefError> => {
  const { result } = await withClient(options, run)
  if (Result.isSuccess(result)) throw new Error(`Expected a failure, got ${JSON.stringify(result.success)}`)
  return result.failure
}

/** Waits until something is so, and fails after 50 s. */
export const until = async (condition: () => boolean): Promise<void> => {
  const end = performance.now() + 50_000
  while (!condition()) {
    if (performance.now() > end) throw new Error("Waited 50 s in vain")
    await new Promise((done) => setTimeout(done, 5))
  }
}
