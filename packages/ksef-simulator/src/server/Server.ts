/**
 * The HTTP server: which part answers a path, and how an answer is written.
 *
 * No input of a client ends more than its own connection.
 */
import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { plainAddress } from "../auth/addresses.ts"
import { answerControl } from "../control/control.ts"
import { verificationPage } from "../control/verificationPages.ts"
import { statusPage } from "../control/statusPage.ts"
import { type Silence, withOutsideFault } from "../faults/callFaults.ts"
import { json, type Reply } from "../http/Reply.ts"
import type { OutsideOperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Api } from "./Api.ts"
import { answerStorage, storageContext, storageOperation } from "./storage.ts"

const notFound: Reply = json(404, {
  title: "Not Found",
  status: 404,
  detail: "The API is under /v2, its state at /, what tests can change under /_simulator."
})

const ignore = (): void => {}

/** Serves one simulator. */
export class Server {
  readonly #node: NodeServer
  readonly #simulation: Simulation
  readonly #api: Api
  readonly #sockets = new Set<Socket>()
  readonly #underWay = new Set<Promise<void>>()

  constructor(simulation: Simulation, api: Api) {
    this.#simulation = simulation
    this.#api = api
    this.#node = createServer({ requestTimeout: 600_000, headersTimeout: 30_000, keepAliveTimeout: 60_000 })
    this.#node.on("request", (request, response) => {
      // Whoever reads a body stops to listen before its last error, that of a client that left.
      for (const stream of [request, response]) stream.on("error", ignore)
      const handled = this.#handle(request, response).finally(() => this.#underWay.delete(handled))
      this.#underWay.add(handled)
    })
    this.#node.on("clientError", answerMalformed)
    this.#node.on("connection", (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on("error", ignore)
      socket.on("close", () => this.#sockets.delete(socket))
    })
  }

  /** Listens, and returns the port. */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#node.once("error", reject)
      this.#node.listen(port, host, () => {
        this.#node.off("error", reject).on("error", ignore)
        resolve()
      })
    })
    return (this.#node.address() as AddressInfo).port
  }

  /** Cuts every connection and stops listening. Requests that are under way end before the promise resolves. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#node.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all([closed, ...this.#underWay])
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const reply = await this.#answer(request)
      this.#simulation.state.flush()
      if (reply === "stall") return
      if (reply === "cut") request.socket.destroy()
      else write(request, response, reply)
    } catch (error) {
      console.error("KSeF simulator: request failed", error)
      request.socket.destroy()
    }
  }

  async #answer(request: IncomingMessage): Promise<Reply | Silence> {
    const url = urlOf(request)
    if (url === undefined) return notFound
    const { pathname: path, searchParams: query } = url
    const { beacon } = this.#simulation
    if (path.startsWith("/v2/")) return this.#api.answer(request, path.slice(3), query)
    if (path.startsWith("/storage/")) return this.#storage(request, path.slice(9), query)
    if (path === "/latarnia/status") {
      return this.#outside(request, path, "getBeaconStatus", null, async () => json(200, beacon.describe()))
    }
    if (path === "/latarnia/messages") {
      return this.#outside(request, path, "getBeaconMessages", null, async () => json(200, beacon.messages))
    }
    if (path.startsWith("/_simulator")) return answerControl(this.#simulation, request, path, query)
    if (request.method === "GET") {
      const page = verificationPage(this.#simulation, path, request.headers.host ?? "")
      if (page !== undefined) return page
    }
    if (path === "/" && request.method === "GET") {
      return statusPage(this.#simulation, this.#simulation.links.apiUrl, query.has("refresh"))
    }
    return notFound
  }

  async #storage(request: IncomingMessage, path: string, query: URLSearchParams): Promise<Reply | Silence> {
    const handle = () => answerStorage(this.#simulation, request, path, query)
    const context = storageContext(this.#simulation, path)
    return this.#outside(request, `/storage/${path}`, storageOperation(path), context, handle)
  }

  // Calls outside of the API are known to the ledger and to faults, and to no limit.
  async #outside(
    request: IncomingMessage,
    path: string,
    point: OutsideOperationName | undefined,
    context: string | null,
    handle: () => Promise<Reply>
  ): Promise<Reply | Silence> {
    const { clock, ledger } = this.#simulation
    const startedAt = clock.now()
    const { fault, reply } =
      point === undefined
        ? { fault: null, reply: await handle() }
        : await withOutsideFault(this.#simulation, { point, context }, handle)
    ledger.record({
      startedAt,
      endedAt: clock.now(),
      operation: point ?? "storage",
      method: request.method ?? "",
      path: path.slice(0, 200),
      context,
      address: plainAddress(request.socket.remoteAddress),
      status: typeof reply === "string" ? null : reply.status,
      fault,
      overLimit: false
    })
    return reply
  }
}

// Bytes that are not HTTP have no request, and get no answer of the API.
const answerMalformed = ({ code }: NodeJS.ErrnoException, socket: Duplex): void => {
  const status = code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request"
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
  else socket.destroy()
}

const urlOf = ({ url }: IncomingMessage): URL | undefined =>
  URL.canParse(url ?? "", "http://simulator") && url?.startsWith("/") === true && !url.startsWith("//")
    ? new URL(url, "http://simulator")
    : undefined

const write = (request: IncomingMessage, response: ServerResponse, { body, headers, status }: Reply): void => {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body
  // The unread rest of a request would be taken for the next one.
  if (!request.complete) response.setHeader("connection", "close")
  response.writeHead(status, {
    "x-ksef-simulator": "1",
    ...headers,
    ...(status === 204 ? {} : { "content-length": bytes?.length ?? 0 })
  })
  response.end(request.method === "HEAD" ? undefined : bytes)
  if (!request.complete) request.resume()
}
