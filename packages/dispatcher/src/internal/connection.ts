/**
 * One connection to one judged address, and the client that speaks HTTP/1.1 over it.
 *
 * A connection carries one attempt at a time. Between attempts it is idle, or still discarding what is left of a body. It is
 * the handler that undici reports to, and passes on what is about its present attempt: one that has gone on to another
 * connection hears nothing of this one any more.
 */
import type * as net from "node:net"
import { Client, type Dispatcher } from "undici"
import type { Attempt, ResponseHeaders } from "./attempt.ts"
import { ProtocolError } from "./classify.ts"
import { headersAsGiven } from "./headersAsGiven.ts"
import { Entry } from "./list.ts"
import { open } from "./socket.ts"
import type { Target } from "./target.ts"

/** The largest response head that is read, in bytes. */
const maxHeadBytes = 16 * 1024
/** How much may be received until the response begins: more than all the heads that one attempt may have. */
const maxReceivedBytes = 256 * 1024
/** How much of a body is discarded to keep its connection, in bytes, and for how long, in milliseconds. */
const maxDiscardBytes = 64 * 1024
const maxDiscardMs = 2_000
/**
 * How much of a request that was answered may still be unsent when the next one comes on top of it, in bytes. A receiver that
 * answers without reading could pile them up in memory. Not 0: TLS takes a turn of the event loop to say that all is sent.
 */
const maxUnsentBytes = 64 * 1024
/** How old a connection may become, so that none outlives what it was opened to for long. */
const maxAgeMs = 300_000

export class Connection implements Dispatcher.DispatchHandler {
  readonly target: Target
  readonly ofTarget = new Entry<Connection>(this)
  readonly receiving = new Entry<Connection>(this)
  attempt: Attempt | undefined
  readonly #client: Client
  readonly #openedAt = performance.now()
  #socket: net.Socket | undefined
  #controller: Dispatcher.DispatchController | undefined
  #closed = false
  /** What the socket had received when this attempt began, or its body. */
  #receivedBefore = 0
  /** When what is left of a body stops being discarded. Undefined until there is a body. */
  #discardUntil: number | undefined
  #discarded = 0

  constructor(target: Target) {
    this.target = target
    this.#client = new Client(target.origin, {
      // Where to connect to is the target's; what undici passes here is only the name.
      connect: (_options, callback) => {
        open(target, this, callback)
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
      if (this.attempt === undefined) this.close()
    })
  }

  /** Whether another attempt can be made over it now. */
  get usable(): boolean {
    return (
      !this.#closed &&
      this.#socket?.destroyed === false &&
      this.#socket.writableLength <= maxUnsentBytes &&
      performance.now() - this.#openedAt <= maxAgeMs
    )
  }

  readonly hold = (socket: net.Socket): void => {
    this.#socket = socket
    this.#receivedBefore = 0
  }

  run(attempt: Attempt): void {
    this.attempt = attempt
    this.#discardUntil = undefined
    this.#receivedBefore = this.#socket?.bytesRead ?? 0
    attempt.connection = this
    const { dispatchOptions } = attempt
    headersAsGiven(dispatchOptions.headers, () => this.#client.dispatch(dispatchOptions, this))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.attempt === undefined) {
      controller.abort(new Error("The attempt is over"))
      return
    }
    this.#controller = controller
    this.target.engine.receives(this)
    this.attempt.onSending()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    const fault = this.attempt?.onResponse(status, headers, fieldCount(controller.rawHeaders))
    if (fault !== undefined) controller.abort(fault)
    else if (status >= 200) this.#discard(controller, headers["content-length"])
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#discarded += chunk.byteLength
    if (this.#discarded > maxDiscardBytes) controller.abort(bodyTooLong())
  }

  onResponseEnd(): void {
    this.attempt = undefined
    this.target.engine.idles(this)
    if (!this.#closed) this.target.release(this)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const { attempt } = this
    this.close()
    attempt?.onFailed(error)
  }

  #discard(controller: Dispatcher.DispatchController, contentLength: unknown): void {
    this.#receivedBefore = this.#socket?.bytesRead ?? 0
    this.#discardUntil = performance.now() + maxDiscardMs
    this.#discarded = 0
    if (typeof contentLength === "string" && Number(contentLength) > maxDiscardBytes) controller.abort(bodyTooLong())
  }

  /** Holds what is received to its bounds, also bytes that undici reports nothing of, such as chunk extensions. */
  check(now: number): void {
    const received = (this.#socket?.bytesRead ?? 0) - this.#receivedBefore
    if (this.#discardUntil === undefined) {
      if (received > maxReceivedBytes) this.#controller?.abort(new ProtocolError("The response head does not end"))
    } else if (received > maxDiscardBytes || now > this.#discardUntil || this.target.waiters.size > 0) {
      // Somebody who waits is worth more than what is left of a body.
      this.close()
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.attempt = undefined
    this.target.engine.idles(this)
    this.target.remove(this)
    // The socket first: a client that is still connecting leaves its socket alone until it is connected.
    this.#socket?.destroy()
    this.#client.destroy(ignore)
  }
}

const ignore = () => {}

const bodyTooLong = () => new Error("The body is longer than what is discarded")

const fieldCount = (raw: Dispatcher.DispatchController["rawHeaders"]): number =>
  Array.isArray(raw) ? raw.length / 2 : 0
