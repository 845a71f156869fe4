/**
 * One connection to one judged address, and the client that speaks HTTP/1.1 over it.
 *
 * A connection carries one attempt at a time. Between attempts it is idle, or still discarding what is left of a body.
 */
import * as net from "node:net"
import * as tls from "node:tls"
import { Client } from "undici"
import { format, ipv4At, parse } from "./address.ts"
import type { Attempt } from "./attempt.ts"
import { PeerAddressError } from "./classify.ts"
import type { Target } from "./target.ts"

/** The largest response head that is read, in bytes; also the most a body may have to be discarded. */
const maxHeadBytes = 16 * 1024

type ConnectCallback = (...result: [null, net.Socket] | [Error, null]) => void

export class Connection {
  readonly target: Target
  readonly client: Client
  readonly openedAt: number
  socket: net.Socket | undefined
  attempt: Attempt | undefined
  /** How many attempts it was used for. */
  uses = 0
  /** What the socket had received when the attempt, and then its body, began. */
  bytesBefore = 0
  /** When what is left of the body stops being discarded. 0 while there is none. */
  discardUntil = 0
  #closed = false

  constructor(target: Target, now: number) {
    this.target = target
    this.openedAt = now
    this.client = new Client(target.origin, {
      // undici passes a function on to the client and never asks what it connects to.
      connect: (_options, callback) => this.#connect(callback),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeadBytes,
      // The attempt has one deadline for everything; these would be further timers for parts of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 60_000,
      keepAliveTimeoutThreshold: 1_000
    })
    this.client.on("disconnect", () => {
      if (this.attempt === undefined) this.close()
    })
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Whether another attempt can be made over it right now. */
  get usable(): boolean {
    return !this.#closed && this.socket !== undefined && !this.socket.destroyed
  }

  run(attempt: Attempt): void {
    this.attempt = attempt
    this.uses++
    this.discardUntil = 0
    this.bytesBefore = this.socket?.bytesRead ?? 0
    attempt.connection = this
    this.client.dispatch(attempt.dispatchOptions, attempt)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.attempt = undefined
    this.target.remove(this)
    // The socket first: a client that is still connecting leaves its socket alone until it is connected.
    this.socket?.destroy()
    this.client.destroy(ignore)
  }

  #connect(callback: ConnectCallback): void {
    const { target } = this
    const { engine } = target
    const socket = target.secure
      ? tls.connect({
          host: target.address,
          port: target.port,
          // An address has no name to send; its certificate is checked against the address.
          ...(net.isIP(target.hostname) === 0 ? { servername: target.hostname } : undefined),
          ALPNProtocols: ["http/1.1"],
          secureContext: engine.secureContext,
          rejectUnauthorized: true,
          ...(target.session === undefined ? undefined : { session: target.session })
        })
      : net.connect({ host: target.address, port: target.port })
    this.socket = socket
    this.bytesBefore = 0
    let pending = true
    const settle = (...result: Parameters<ConnectCallback>) => {
      if (!pending) return
      pending = false
      callback(...result)
    }
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    socket.on("error", (error) => settle(error, null))
    // A socket that is destroyed without an error says so by closing.
    socket.once("close", () => settle(new Error("The socket was closed"), null))
    socket.once("connect", () => {
      if (canonical(socket.remoteAddress) !== target.address) {
        socket.destroy(new PeerAddressError("The socket is connected to another address"))
        return
      }
      this.attempt?.onConnected(target.secure)
      engine.connected(target)
      if (!target.secure) settle(null, socket)
    })
    if (socket instanceof tls.TLSSocket) {
      socket.on("session", (session) => {
        target.session = session
      })
      socket.once("secureConnect", () => {
        this.attempt?.onSecured()
        settle(null, socket)
      })
    }
  }
}

const ignore = () => {}

/** An address as Node reports it, in the form that judged addresses have. */
const canonical = (text: string | undefined): string | undefined => {
  const address = text === undefined ? undefined : parse(text)
  if (address === undefined) return undefined
  const mapped =
    address.family === 6 && address.groups[5] === 0xffff && address.groups.slice(0, 5).every((g) => g === 0)
  return format(mapped ? ipv4At(address, 6) : address)
}
