/**
 * One connection to one judged address, and the undici client that speaks HTTP/1.1 over it.
 *
 * A connection carries one exchange at a time: a request and its response head. Between exchanges it is idle, or discards the
 * rest of a body. It is the handler that undici calls, and reports to its present exchange alone.
 */
import type * as net from "node:net"
import { Client, type Dispatcher } from "undici"
import { ProtocolError } from "./classify.ts"
import { headersAsGiven } from "./headersAsGiven.ts"
import type { Transport } from "./handshakes.ts"
import { Entry } from "./list.ts"
import { nextTurn } from "./nextTurn.ts"
import { type Endpoint, openSocket, type SocketObserver, type SocketSettings } from "./socket.ts"

/** The headers of a response, their names in lowercase. */
export type ResponseHeaders = Readonly<Record<string, string | Array<string> | undefined>>

/** A request and the response to it, as far as a connection is concerned. */
export interface Exchange {
  readonly dispatchOptions: Dispatcher.DispatchOptions & { readonly headers: Array<string> }
  /** Set while a connection works for this exchange. */
  connection: Connection | undefined
  /** Runs `run`, and ends this exchange alone if it throws. */
  guard(run: () => void): void
  /** The TCP connection, or the tunnel through the proxy, is established. */
  onConnected(secure: boolean): void
  onSecured(): void
  /** The request is about to be written. */
  onSending(): void
  /** A response head was read, informational or final. Returns the fault that forbids to read on. */
  onResponse(status: number, headers: ResponseHeaders, fields: number): ProtocolError | undefined
  /** The connection could not be established, or was closed. */
  onFailed(error: Error): void
}

/** The pool of a connection, and the functions that it reports to. */
export interface ConnectionOwner {
  readonly endpoint: Endpoint
  /** Scheme, host and port as they are sent. */
  readonly origin: string
  readonly socketSettings: SocketSettings
  /** Whether an exchange waits for a connection. */
  readonly hasWaiters: boolean
  /** A TCP connection was established. */
  onConnected(): void
  /** It begins to work for an exchange. */
  onBusy(connection: Connection): void
  /** It works for no exchange any more, and may still discard a body. */
  onSpare(connection: Connection): void
  /** The response was read to its end. */
  onIdle(connection: Connection): void
  onClosed(connection: Connection): void
}

/** The largest response head that is read, in bytes. */
const maxHeadBytes = 16 * 1024
/**
 * How much may arrive from the first byte to the response head, and again after it, in bytes: more than all heads that one
 * exchange may have. Counted below TLS, where a flood of handshake messages and session tickets carries no data.
 */
const maxReceivedBytes = 256 * 1024
/** How much of a body is discarded to keep its connection, in bytes, and for how long, in milliseconds. */
const maxDiscardBytes = 64 * 1024
const maxDiscardMs = 2_000
/**
 * How much of a request that was answered may still be unsent when the next one is written, in bytes. A receiver that answers
 * without reading would pile requests up in memory. Not 0: TLS takes a turn of the event loop to report that all is sent.
 */
const maxUnsentBytes = 64 * 1024
/** How old a connection may become, so that it does not outlive changes of the receiver's network for long, in milliseconds. */
const maxAgeMs = 300_000

/**
 * How much is parsed at once, in bytes. undici parses a piece to its end, also when it has closed the socket because of a field in it,
 * and makes an error for each further one: a head of small fields takes 200 ms of processor time in pieces of 64 KiB.
 */
const pieceBytes = 2 * 1024

const readInPieces = (socket: net.Socket): void => {
  const read = socket.read.bind(socket)
  socket.read = (size?: number): Buffer | null => {
    if (socket.destroyed) return null
    const { readableLength } = socket
    return read(size ?? (readableLength > pieceBytes ? pieceBytes : undefined)) as Buffer | null
  }
}

export class Connection implements Dispatcher.DispatchHandler {
  readonly inPool = new Entry<Connection>(this)
  readonly inWatched = new Entry<Connection>(this)
  readonly inSpare = new Entry<Connection>(this)
  /** When a response was read to its end last. */
  idleSince = 0
  readonly #owner: ConnectionOwner
  readonly #client: Client
  #exchange: Exchange | undefined
  #openedAt = performance.now()
  #tcp: net.Socket | undefined
  /** The stream that carries HTTP: the TCP socket, or TLS over it. */
  #socket: net.Socket | undefined
  /** What is below TLS, once that is established. */
  #transport: Transport | undefined
  #closed = false
  /** Whether a response was read to its end, and the next request was not written. */
  #idle = false
  /** The bytes that the sockets had received when the present phase began. */
  #tcpBytesBefore = 0
  #socketBytesBefore = 0
  /** When the rest of a body stops being discarded. Undefined until the response head. */
  #discardUntil: number | undefined
  #discarded = 0

  constructor(owner: ConnectionOwner) {
    this.#owner = owner
    this.#client = new Client(owner.origin, {
      // The endpoint decides where to connect; what undici passes here is only the name.
      connect: (_options, callback) => {
        openSocket(owner.endpoint, owner.socketSettings, this.#socketObserver, (...result) => {
          const [, socket] = result
          if (socket !== null) readInPieces(socket)
          // Before the listener of undici, so that nothing of what an idle connection receives is parsed.
          socket?.on("readable", this.#onReadable)
          callback(...result)
        })
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeadBytes,
      // An attempt has one deadline for everything; these would be further timers for parts of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 60_000,
      keepAliveTimeoutThreshold: 1_000
    })
    this.#client.on("disconnect", () => {
      if (this.#exchange === undefined) this.close()
    })
  }

  readonly #socketObserver: SocketObserver = {
    onSocket: (tcp, socket) => {
      this.#tcp = tcp
      this.#socket = socket
      if (tcp === socket) {
        this.#openedAt = performance.now()
        this.#idle = false
        this.#tcpBytesBefore = 0
        this.#transport = undefined
      }
      this.#socketBytesBefore = 0
    },
    onConnected: () => {
      this.#exchange?.onConnected(this.#owner.endpoint.secure)
      this.#owner.onConnected()
    },
    onSecured: (transport) => {
      this.#transport = transport
      this.#exchange?.onSecured()
    },
    onFlood: () => {
      if (this.#idle) this.#endIdle()
      else this.#fail(new ProtocolError("The response does not end"))
    }
  }

  /** Whether another exchange can use it now. */
  get usable(): boolean {
    return (
      !this.#closed &&
      this.#socket?.destroyed === false &&
      this.#socket.writableLength <= maxUnsentBytes &&
      performance.now() - this.#openedAt <= maxAgeMs
    )
  }

  run(exchange: Exchange): void {
    this.#exchange = exchange
    this.#discardUntil = undefined
    this.#beginPhase()
    exchange.connection = this
    this.#owner.onBusy(this)
    if (this.#socket === undefined) this.#dispatch(exchange)
    // undici lets one turn of the event loop pass before it writes to a connection again, which is none if it is called between
    // reading and `setImmediate`. With this one, all bytes that arrived before `run` are read before the request is written.
    else nextTurn(() => exchange.guard(() => this.#dispatch(exchange)))
  }

  #dispatch(exchange: Exchange): void {
    if (this.#exchange !== exchange) return
    const { dispatchOptions } = exchange
    headersAsGiven(dispatchOptions.headers, () => this.#client.dispatch(dispatchOptions, this))
  }

  /** Nothing may arrive over an idle connection: its bytes could be taken for the next response. */
  readonly #onReadable = (): void => {
    if (this.#idle) this.#endIdle()
  }

  #endIdle(): void {
    if (this.#exchange === undefined) this.close()
    // undici sends the request of this exchange, of which nothing was written, over a new socket to the same address.
    else this.#socket?.destroy()
  }

  onRequestStart(): void {
    const exchange = this.#exchange
    if (exchange === undefined) {
      this.close()
      return
    }
    this.#idle = false
    exchange.guard(() => exchange.onSending())
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    const exchange = this.#exchange
    let fault: ProtocolError | undefined
    // Guarded, because undici aborts a request whose handler throws: see `close`.
    exchange?.guard(() => {
      fault = exchange.onResponse(status, headers, fieldCount(controller.rawHeaders))
    })
    if (fault !== undefined) this.#fail(fault)
    else if (status >= 200 && !this.#closed) this.#discard(headers["content-length"])
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#discarded += chunk.byteLength
    if (this.#discarded > maxDiscardBytes) this.close()
  }

  onResponseEnd(): void {
    if (this.#closed) return
    this.#idle = true
    this.idleSince = performance.now()
    this.#owner.onIdle(this)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error)
  }

  #fail(error: Error): void {
    const exchange = this.#exchange
    this.close()
    exchange?.guard(() => exchange.onFailed(error))
  }

  #discard(contentLength: unknown): void {
    this.#exchange = undefined
    this.#beginPhase()
    this.#discardUntil = performance.now() + maxDiscardMs
    this.#discarded = 0
    if (typeof contentLength === "string" && Number(contentLength) > maxDiscardBytes) this.close()
    else this.#owner.onSpare(this)
  }

  #beginPhase(): void {
    this.#tcpBytesBefore = this.#tcp?.bytesRead ?? 0
    this.#socketBytesBefore = this.#socket?.bytesRead ?? 0
    this.#transport?.beginPhase()
  }

  /** Enforces the limits on what is received, also on bytes that undici does not report, such as chunk extensions. */
  check(now: number): void {
    const isTooMuch = (this.#tcp?.bytesRead ?? 0) - this.#tcpBytesBefore > maxReceivedBytes
    if (this.#discardUntil === undefined) {
      if (isTooMuch) this.#fail(new ProtocolError("The response head does not end"))
      return
    }
    const discarded = (this.#socket?.bytesRead ?? 0) - this.#socketBytesBefore
    // A waiting exchange is worth more than the rest of a body.
    if (isTooMuch || discarded > maxDiscardBytes || now > this.#discardUntil || this.#owner.hasWaiters) this.close()
  }

  /**
   * Closes the socket.
   *
   * Never `controller.abort`: undici marks the request as aborted and keeps its parser, which asserts outside of any handler
   * when the closed socket completes a response without a length.
   */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#exchange = undefined
    this.#owner.onClosed(this)
    // The sockets first: a client that is still connecting leaves its socket alone until it is connected.
    this.#socket?.destroy()
    this.#tcp?.destroy()
    this.#client.destroy(ignore)
  }
}

const ignore = () => {}

const fieldCount = (raw: Dispatcher.DispatchController["rawHeaders"]): number =>
  Array.isArray(raw) ? raw.length / 2 : 0
