/**
 * One request and its response, within a deadline and bounds, as an Effect that can be interrupted.
 */
import * as Effect from "effect/Effect"
import type { Dispatcher } from "undici"
import type { Connections } from "./connections.ts"
import type { KsefError } from "./KsefError.ts"
import { ConnectError } from "./lookup.ts"

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** A response. `isWhole` is false where the body of an error was longer than is read of it. */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
  readonly isWhole: boolean
}

/** Why there is no response. */
export type ExchangeFailure = Pick<KsefError, "outcome" | "reason" | "code">

/** How much is read of the body of an error. */
const maxErrorBytes = 256 * 1024

const resolved = Promise.resolve()

export const exchange = (connections: Connections, request: Request): Effect.Effect<Response, ExchangeFailure> =>
  Effect.callback<Response, ExchangeFailure>((resume) => {
    const { origin } = request.url
    const startedAt = performance.now()
    const connection = connections.take(origin)
    let isDone = false
    const done = (effect: Effect.Effect<Response, ExchangeFailure>, keep: boolean): void => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      if (keep) connections.giveBack(connection)
      else connections.discard(connection)
      // In a microtask: this runs inside of undici's parser, which what follows may not enter again.
      void resolved.then(() => resume(effect))
    }
    const exchanging = new Exchange(request, done)
    const timer = setTimeout(() => {
      connections.discardIdleSince(startedAt, origin)
      exchanging.fail("timeout")
    }, request.timeoutMs)
    connection.dispatch(
      {
        origin,
        path: `${request.url.pathname}${request.url.search}`,
        method: request.method,
        headers: request.headers,
        body: request.body === undefined ? null : Buffer.from(request.body)
      },
      exchanging
    )
    return Effect.sync(() => done(Effect.interrupt, false))
  })

type Done = (effect: Effect.Effect<Response, ExchangeFailure>, keep: boolean) => void

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: Request
  readonly #done: Done
  /** What came of the body is at its beginning. KSeF chooses in which pieces it comes, and each is an object of a hundred bytes. */
  #body = Buffer.alloc(0)
  #isSent = false
  #status = 0
  #headers: Response["headers"] = {}
  #length = 0
  #maxBytes = 0

  constructor(request: Request, done: Done) {
    this.#request = request
    this.#done = done
  }

  onRequestStart(): void {
    this.#isSent = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Response["headers"]): void {
    // A response of 1xx comes before the one that counts.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#maxBytes = status < 400 ? this.#request.maxBytes : maxErrorBytes
    if (Number(headers["content-length"]) > this.#maxBytes) this.#overflow()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#maxBytes) return this.#overflow()
    if (length > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(2 * Math.max(length, 2048), this.#maxBytes))
      this.#body.copy(larger, 0, 0, this.#length)
      this.#body = larger
    }
    chunk.copy(this.#body, this.#length)
    this.#length = length
  }

  onResponseEnd(): void {
    this.#done(Effect.succeed(this.#response(true)), true)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (error instanceof ConnectError) {
      this.#done(Effect.fail({ outcome: "unsent", reason: error.reason, code: error.code }), false)
    } else this.fail("connection-lost", (error as NodeJS.ErrnoException).code)
  }

  fail(reason: "timeout" | "connection-lost", code?: string): void {
    this.#done(Effect.fail({ outcome: this.#isSent ? "unknown" : "unsent", reason, code }), false)
  }

  #overflow(): void {
    const answer: Effect.Effect<Response, ExchangeFailure> =
      this.#status < 400
        ? Effect.fail({ outcome: "answered", reason: "too-large", code: undefined })
        : Effect.succeed(this.#response(false))
    this.#done(answer, false)
  }

  #response(isWhole: boolean): Response {
    const body = this.#body.subarray(0, this.#length)
    return { status: this.#status, headers: this.#headers, body, isWhole }
  }
}
