/**
 * Serves the requests of each connection of a server one at a time, and outlives their errors.
 *
 * Node reads ahead: it parses all requests that one read of a connection returned, and begins to serve each. Here it gets the
 * bytes up to the end of one head, and what is behind a request waits until that is answered: as bytes, and never more of
 * them than a head may have. A connection that sends more ends after the answer. So a client reads its answers, or gets no
 * others. A body in chunks that nobody reads yet stays bytes, too: parsed, each chunk is an object.
 *
 * A turn of the event loop accepts one connection, however long it takes. Requests begin when no other connection comes: the turns
 * of some hundred busy connections would keep new clients waiting, even for good.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** A request, with the event of the server that passes it on. */
export interface Exchange {
  readonly event: "checkContinue" | "request"
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A request that is served, or was last, and how far its answer is. */
export interface Latest {
  readonly request: IncomingMessage
  readonly response: Pick<ServerResponse, "headersSent" | "writableEnded">
}

type Emit = (event: string | symbol, ...args: ReadonlyArray<unknown>) => boolean

const blankLine = "\r\n\r\n"

const nothing = Buffer.alloc(0)

/** How much of a body in chunks is parsed at once, in bytes. */
const maxChunkedPiece = 4 * 1024

const ignore = (): void => {}

/** How many connections come before requests that wait begin: as many as the system has waiting, unless Node is told otherwise. */
const maxAhead = 511

/** Has requests begin when no other connection comes, or enough have. */
const makeBeginning = (begin: (exchange: Exchange) => void) => {
  let waiting = new Set<Exchange>()
  let hasAccepted = false
  let ahead = 0
  const run = (): void => {
    if (hasAccepted && ahead < maxAhead) {
      hasAccepted = false
      ahead++
      setImmediate(run)
      return
    }
    const all = waiting
    waiting = new Set()
    for (const exchange of all) begin(exchange)
  }
  return {
    accepted: (): void => {
      hasAccepted = true
    },
    add: (exchange: Exchange): void => {
      if (waiting.add(exchange).size > 1) return
      ahead = 0
      setImmediate(run)
    },
    /** Begins a request at once, if it waits. */
    now: (exchange: Latest | undefined): void => {
      if (waiting.delete(exchange as Exchange)) begin(exchange as Exchange)
    }
  }
}

/** How long a client has to read an answer after which the connection ends. */
const closeGraceMs = 500

/** What the system may hold of a connection after it is closed, in bytes. */
const smallBytes = 16 * 1024

const maySystemHoldMuch = (socket: Duplex): boolean => ((socket as Partial<Socket>).bytesWritten ?? 0) > smallBytes

/** How long a client may go on with a body in chunks after its answer, in milliseconds. */
const lateMs = 10_000

// After a close, the system keeps what the client does not read, for minutes, and nobody counts the connection any more.
const dropWithin = (socket: Duplex, milliseconds: number): void => {
  const drop = () => (maySystemHoldMuch(socket) ? (socket as Socket).resetAndDestroy() : socket.destroy())
  const timer = setTimeout(drop, milliseconds)
  socket.once("close", () => clearTimeout(timer))
}

/** Ends a connection after the answer. A close at once could reset it before the client has read that. */
export const closeSoon = (socket: Duplex): void => {
  socket.end()
  dropWithin(socket, closeGraceMs)
}

/**
 * Has a connection close when its answers are sent, as Node closes it, unless the system may hold much of them: then it closes when
 * the client has read them and closed its side, or is dropped after a time.
 */
const closeWhenRead = (socket: Socket, withinMs: number): void => {
  let isClosing = false
  const close = () => {
    if (!maySystemHoldMuch(socket)) return void socket.destroy()
    dropWithin(socket, withinMs)
    // So that the end of the other side is seen.
    socket.resume()
  }
  socket.destroySoon = () => {
    if (isClosing) return
    isClosing = true
    if (socket.writable) socket.end()
    if (socket.writableFinished) close()
    else socket.once("finish", close)
  }
}

export interface TurnsOptions {
  /** How many bytes of a connection wait behind a request. More of them end it after the answer. */
  readonly maxHeldBytes: number
  /** How long a client has to read answers after which the connection is closed, in milliseconds. */
  readonly closeMs: number
  /** Called when all of an answer is handed to the system. */
  readonly onAnswered: () => void
}

const isChunked = ({ headers }: IncomingMessage): boolean => headers["transfer-encoding"] !== undefined

const isUnread = (request: IncomingMessage): boolean => request.readableFlowing !== true && request.readableLength > 0

interface ConnectionOptions extends TurnsOptions {
  readonly socket: Socket
  /** The parser. It passes requests to `arrive` while it runs. */
  readonly parse: (bytes: Buffer) => void
  readonly serve: (exchange: Exchange) => void
}

class Connection {
  latest: Latest | undefined
  /** The request that is served. */
  private current: Exchange | undefined
  /** The request whose head came with the end of the body before it. */
  private next: Exchange | undefined
  /** The bytes behind them. */
  private held = nothing
  /** The bytes of a body in chunks that nobody reads yet. */
  private unread = nothing
  /** How much of the body of the last request is not parsed yet, if its head tells. */
  private bodyLeft = 0
  /** The last bytes that were parsed, if a head may end in the next ones. */
  private seam = ""
  /** The bytes of a body in chunks that came after the answer. */
  private late = 0
  private isEnding = false
  private readonly options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    this.options = options
  }

  arrive(exchange: Exchange): void {
    const { request } = exchange
    this.bodyLeft = Number(request.headers["content-length"] ?? 0)
    // What was parsed is read right after the event.
    if (isChunked(request)) request.on("resume", () => setImmediate(() => this.readOn()))
    if (this.current === undefined) this.begin(exchange)
    else this.next = exchange
  }

  receive(bytes: Buffer): void {
    if (this.isEnding || this.endsAsLate(bytes)) return
    if (this.held.length > 0) return this.hold(bytes)
    if (this.unread.length > 0) return this.leaveUnread(bytes)
    for (let at = 0; at < bytes.length;) {
      // What follows an answer that ends the connection is not read.
      if (!this.options.socket.writable) return
      if (this.next !== undefined || this.current?.request.complete === true) return this.hold(bytes.subarray(at))
      const isInChunks = this.current !== undefined && isChunked(this.current.request)
      if (isInChunks && isUnread(this.current!.request)) return this.leaveUnread(bytes.subarray(at))
      const end = this.endOfPiece(isInChunks ? bytes.subarray(0, at + maxChunkedPiece) : bytes, at)
      this.options.parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
      at = end
    }
  }

  /** Ends a connection that goes on with a body in chunks after its answer: each chunk costs as much as a kibibyte in one. */
  private endsAsLate(bytes: Buffer): boolean {
    if (this.current !== undefined || this.latest === undefined) return false
    const { request } = this.latest
    if (request.complete || !isChunked(request)) return false
    this.late += bytes.length
    if (this.late <= maxChunkedPiece) return false
    this.isEnding = true
    this.unread = nothing
    // Many clients read no answer before they have sent everything: what still comes is discarded meanwhile.
    this.options.socket.end()
    dropWithin(this.options.socket, lateMs)
    return true
  }

  /** Returns the end of a piece that has one end of a head at most, and nothing behind it. */
  private endOfPiece(bytes: Buffer, from: number): number {
    if (this.bodyLeft > 0) {
      const length = Math.min(this.bodyLeft, bytes.length - from)
      this.bodyLeft -= length
      return from + length
    }
    const { seam } = this
    this.seam = ""
    if (seam !== "") {
      const at = (seam + bytes.toString("latin1", from, from + 3)).indexOf(blankLine)
      if (at !== -1) return from + at + blankLine.length - seam.length
    }
    const at = bytes.indexOf(blankLine, from)
    if (at !== -1) return at + blankLine.length
    this.seam = (seam + bytes.toString("latin1", Math.max(from, bytes.length - 3))).slice(-3)
    return bytes.length
  }

  private leaveUnread(bytes: Buffer): void {
    this.unread = Buffer.concat([this.unread, bytes])
    this.options.socket.pause()
  }

  private readOn(): void {
    const { unread } = this
    if (unread.length === 0) return
    this.unread = nothing
    this.receive(unread)
    if (this.unread.length === 0) this.options.socket.resume()
  }

  private hold(bytes: Buffer): void {
    if (this.held.length + bytes.length <= this.options.maxHeldBytes) {
      // Copied, because they are a part of a buffer of 64 KiB.
      this.held = Buffer.concat([this.held, bytes])
      return
    }
    this.isEnding = true
    this.held = nothing
    this.next = undefined
    if (this.current === undefined) closeSoon(this.options.socket)
    else if (!this.current.response.headersSent) this.current.response.shouldKeepAlive = false
  }

  private begin(exchange: Exchange): void {
    this.current = exchange
    this.latest = exchange
    this.late = 0
    exchange.response.once("finish", () => this.finish())
    this.options.serve(exchange)
  }

  // All of the answer is handed to the system.
  private finish(): void {
    this.current = undefined
    // What listens to the response knows the whole answer, and a client may keep the connection.
    if (this.latest !== undefined)
      this.latest = { ...this.latest, response: { headersSent: true, writableEnded: true } }
    this.options.onAnswered()
    const { socket } = this.options
    if (this.isEnding) {
      if (maySystemHoldMuch(socket)) socket.destroySoon()
      else closeSoon(socket)
    }
    // After other connections had their turn.
    else if (this.next !== undefined || this.held.length > 0) setImmediate(() => this.proceed())
  }

  private proceed(): void {
    const { held, next } = this
    this.held = nothing
    this.next = undefined
    if (!this.options.socket.writable) return
    if (next !== undefined) this.begin(next)
    this.receive(held)
  }
}

/** Has a server serve its requests in turn. Returns the request of a connection that is served, or was last. */
export const take = (server: Server, options: TurnsOptions): ((socket: Duplex) => Latest | undefined) => {
  const connections = new WeakMap<Duplex, Connection>()
  const emit = server.emit.bind(server) as Emit
  const beginning = makeBeginning(({ event, request, response }) => {
    if (request.socket.writable) emit(event, request, response)
  })

  const connect = (socket: Socket): boolean => {
    beginning.accepted()
    socket.on("error", ignore)
    closeWhenRead(socket, options.closeMs)
    const isPassed = emit("connection", socket)
    // The listener that Node added. With one of ours in its place, it reads nothing but what we pass on.
    const [parse] = socket.listeners("data") as Array<(bytes: Buffer) => void>
    if (parse === undefined) return isPassed
    const connection = new Connection({ ...options, socket, parse, serve: beginning.add })
    connections.set(socket, connection)
    socket.off("data", parse).on("data", (bytes: Buffer) => connection.receive(bytes))
    return isPassed
  }

  const admit = (event: Exchange["event"], request: IncomingMessage, response: ServerResponse): boolean => {
    // Nobody else has to listen until the last error of an exchange, and nobody can remove these.
    request.on("error", ignore)
    response.on("error", ignore)
    const connection = connections.get(request.socket)
    if (connection === undefined) return emit(event, request, response)
    connection.arrive({ event, request, response })
    return true
  }

  // Everything that Node passes on comes through here, whoever listens.
  const passOn: Emit = (event, ...args) => {
    const [first, second] = args
    switch (event) {
      case "connection":
        return connect(first as Socket)
      case "checkContinue":
        return admit(event, first as IncomingMessage, second as ServerResponse)
      // An unknown expectation is ignored: the request is answered as it stands.
      case "checkExpectation":
      case "request":
        return admit("request", first as IncomingMessage, second as ServerResponse)
      // A request whose body cannot be read has its turn before.
      case "clientError":
        beginning.now(connections.get(second as Duplex)?.latest)
        return emit(event, ...args)
      default:
        return emit(event, ...args)
    }
  }
  server.emit = passOn as Server["emit"]
  // Without a listener, Node answers an unknown expectation itself.
  server.on("checkExpectation", ignore)
  // With a listener, Node leaves it to that to close a connection that was idle for too long.
  server.on("timeout", (socket: Socket) => socket.destroySoon())
  // Of a listening server: the system has no file descriptor for a connection, for example.
  server.on("error", ignore)
  return (socket) => connections.get(socket)?.latest
}
