/**
 * Connections of HTTP/1.1, one call at a time over each, kept for the next call while they are idle.
 *
 * A connection is ended by closing its socket, never by undici's `controller.abort`, after which its parser asserts outside
 * of any handler when a response without a length ends with its connection.
 */
import * as net from "node:net"
import * as tls from "node:tls"
import { ForwardProxy } from "@govoice/dispatcher"
import { Client, type Dispatcher } from "undici"
import { ConnectError } from "./lookup.ts"

/** The options of every connection of a client. */
export interface ConnectOptions {
  readonly lookup: net.LookupFunction
  readonly secureContext: tls.SecureContext
  readonly connectTimeoutMs: number
  /** A forward proxy, as `http://user:password@host:port`. */
  readonly proxy: string | undefined
}

/** After this, an idle connection is closed: addresses are looked up again, and its peer has not closed it yet. */
const maxIdleMs = 4_000
const maxAgeMs = 300_000
const maxHeaderBytes = 16 * 1024

export class Connection {
  readonly origin: string
  /** When it was given back last. */
  idleSince = 0
  readonly #client: Client
  readonly #openedAt = performance.now()
  #socket: net.Socket | undefined
  #closed = false

  constructor(origin: string, options: ConnectOptions) {
    this.origin = origin
    this.#client = new Client(origin, {
      connect: (_options, callback) => {
        this.#socket = connect(new URL(origin), options, (...result) => {
          this.#socket = result[1] ?? this.#socket
          callback(...result)
        })
      },
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // A call has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: maxIdleMs,
      keepAliveMaxTimeout: 60_000
    })
  }

  get isUsable(): boolean {
    return !this.#closed && this.#socket?.destroyed === false && performance.now() - this.#openedAt < maxAgeMs
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler)
  }

  close(): void {
    this.#closed = true
    // The socket first: a client that is still connecting leaves its socket alone until it is connected.
    this.#socket?.destroy()
    this.#client.destroy(() => {})
  }
}

export class Connections {
  readonly #options: ConnectOptions
  readonly #idle = new Map<string, Array<Connection>>()
  readonly #open = new Set<Connection>()

  constructor(options: ConnectOptions) {
    this.#options = options
  }

  /** The connection that was used last, since it is the least likely to be closed by its peer. */
  take(origin: string): Connection {
    const idle = this.#idle.get(origin) ?? []
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isUsable) return connection
      this.discard(connection)
    }
    const connection = new Connection(origin, this.#options)
    this.#open.add(connection)
    return connection
  }

  giveBack(connection: Connection): void {
    if (!connection.isUsable || !this.#open.has(connection)) return this.discard(connection)
    connection.idleSince = performance.now()
    const idle = this.#idle.get(connection.origin) ?? []
    this.#idle.set(connection.origin, idle)
    idle.push(connection)
    // Those that were closed meanwhile are at the front.
    while (idle[0]?.isUsable === false) this.discard(idle.shift()!)
  }

  /** Discards what has been idle since before a call that had no answer: it may have gone silent with the connection of that one. */
  discardIdleSince(time: number, origin: string): void {
    for (const connection of this.#idle.get(origin) ?? []) if (connection.idleSince < time) this.discard(connection)
  }

  discard(connection: Connection): void {
    this.#open.delete(connection)
    connection.close()
  }

  close(): void {
    for (const connection of this.#open) connection.close()
    this.#open.clear()
    this.#idle.clear()
  }
}

const connect = (
  { hostname, port, protocol }: URL,
  { connectTimeoutMs, lookup, proxy, secureContext }: ConnectOptions,
  callback: (...result: [null, net.Socket] | [Error, null]) => void
): net.Socket => {
  const secure = protocol === "https:"
  const host = hostname.replace(/^\[|\]$/g, "")
  const target = { host, port: Number(port || (secure ? 443 : 80)) }
  let isPending = true
  let isConnected = false
  const fail = (error: Error): void => {
    clearTimeout(timer)
    tcp.destroy()
    if (!isPending) return
    isPending = false
    callback(
      error instanceof ConnectError ? error : ConnectError.from(error, isConnected ? "tls-failed" : undefined),
      null
    )
  }
  const watch = (socket: net.Socket): void => {
    socket.on("error", fail)
    // A socket that is destroyed without an error only closes.
    socket.once("close", () => fail(new ConnectError(isConnected ? "tls-failed" : "connect-failed", "ECONNRESET")))
  }
  const settle = (socket: net.Socket): void => {
    clearTimeout(timer)
    isPending = false
    callback(null, socket)
  }
  const onConnected = (): void => {
    isConnected = true
    if (!secure) return settle(tcp)
    const socket = tls.connect({
      socket: tcp,
      host,
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
      secureContext,
      // Stated because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
      rejectUnauthorized: true
    })
    watch(socket)
    socket.once("secureConnect", () => settle(socket))
  }
  // The proxy looks the name up. Whom it reaches, TLS proves.
  const tcp =
    proxy === undefined
      ? net.connect({ ...target, lookup }, onConnected)
      : ForwardProxy.connect(proxy, target, (error) => (error === null ? onConnected() : fail(error)))
  const timer = setTimeout(() => fail(new ConnectError("connect-failed", "ETIMEDOUT")), connectTimeoutMs)
  tcp.setNoDelay(true)
  tcp.setKeepAlive(true, 10_000)
  watch(tcp)
  return tcp
}
