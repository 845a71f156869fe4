/**
 * One attempt, from the call to its outcome: a lookup, a place at a target, a connection, a response head.
 *
 * Nothing here throws: what goes wrong is classified.
 */
import type { Dispatcher } from "undici"
import { DispatcherError } from "../DispatcherError.ts"
import type { Rule } from "../Guard.ts"
import type { AttemptDiagnostics, Phase } from "../Options.ts"
import type { FailureReason, Outcome } from "../Outcome.ts"
import { parseRetryAfter } from "../RetryAfter.ts"
import { codeOf, PeerAddressError, ProtocolError, reasonOf } from "./classify.ts"
import type { Connection } from "./connection.ts"
import { diagnose, type Moments, observe } from "./diagnostics.ts"
import type { Engine } from "./engine.ts"
import { Entry } from "./list.ts"
import type { Answer } from "./lookups.ts"
import type { Prepared } from "./request.ts"
import type { Target } from "./target.ts"
import { elapsed } from "./time.ts"
import type { Target as UrlTarget } from "./url.ts"

/** How many addresses of one answer are tried. */
const maxAddresses = 3
/** How long an address that is not the last to try may take to connect. */
const connectTimeoutMs = 3_000
/** How many informational responses may come before the final one. */
const maxInformational = 8
/** How many header fields a response may have. */
const maxFields = 200

/** Who asked for an attempt. One of the three is called, once. */
export interface Observer {
  readonly onOutcome: (outcome: Outcome, diagnose: () => AttemptDiagnostics) => void
  readonly onDefect: (error: DispatcherError) => void
  /** The dispatcher was destroyed. Not called for `cancel`. */
  readonly onDestroyed: () => void
}

/** The headers of a response, their names in lowercase. */
export type ResponseHeaders = Readonly<Record<string, string | Array<string> | undefined>>

export class Attempt {
  readonly url: UrlTarget
  readonly dispatchOptions: Dispatcher.DispatchOptions & { readonly headers: Array<string> }
  readonly underWay = new Entry<Attempt>(this)
  readonly waiting = new Entry<Attempt>(this)
  connection: Connection | undefined
  waitsFor: Target | undefined
  readonly #engine: Engine
  readonly #deadlineMs: number
  readonly #observer: Observer
  readonly #moments: Moments = { started: performance.now() }
  #phase: Phase = "lookup"
  #settled = false
  #attempted = false
  #leaveLookup: (() => void) | undefined
  #deadline: NodeJS.Timeout | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #candidates: ReadonlyArray<string> = []
  #address: string | undefined
  #tried = 0
  #informational = 0

  constructor(engine: Engine, url: UrlTarget, prepared: Prepared, observer: Observer) {
    this.#engine = engine
    this.url = url
    this.#deadlineMs = prepared.deadlineMs
    this.#observer = observer
    const { body, headers, method } = prepared
    this.dispatchOptions = { origin: url.origin, path: url.path, method, headers, body }
  }

  start(): void {
    this.#deadline = setTimeout(() => this.#onDeadline(), this.#deadlineMs)
    const { addresses, hostname } = this.url
    if (addresses === undefined) {
      this.#leaveLookup = this.#engine.lookups.join(hostname, (answer) => this.#onAnswer(answer))
    } else {
      this.#onAnswer({ _tag: "Addresses", addresses })
    }
  }

  /** Ends the attempt without an outcome and closes what it has open. */
  cancel(): void {
    if (this.#settled) return
    this.#end("interrupted")
    this.#abandon()
  }

  /** Like `cancel`, and tells whoever asked. */
  destroy(): void {
    if (this.#settled) return
    this.cancel()
    this.#observer.onDestroyed()
  }

  #onAnswer(answer: Answer): void {
    if (this.#settled) return
    this.#leaveLookup = undefined
    if (this.url.addresses === undefined) this.#moments.lookedUp = performance.now()
    switch (answer._tag) {
      case "Addresses":
        this.#candidates = answer.addresses
        return this.#acquire()
      case "Refused":
        return this.#block(answer.rule)
      case "Failed":
        return this.#fail("dns", answer.code)
    }
  }

  #acquire(): void {
    this.#phase = "queue"
    this.onTurn(() => {
      const target = this.#engine.choose(this, this.#candidates)
      this.#address = target.address
      target.take(this)
    })
  }

  // What the target and its connection tell.

  /** A connection is free. Whatever `run` throws is ours and ends this attempt alone. */
  onTurn(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#defect(error)
    }
  }

  onAcquired(): void {
    this.#moments.acquired = performance.now()
    this.#moments.connected = undefined
    this.#phase = "connect"
    this.#tried++
    if (this.#tried < maxAddresses && this.#candidates.length > 1) {
      const left = this.#deadlineMs - (this.#moments.acquired - this.#moments.started)
      this.#connectTimer = setTimeout(() => this.#nextAddress("ETIMEDOUT"), Math.min(connectTimeoutMs, left / 2))
    }
  }

  onConnected(secure: boolean): void {
    clearTimeout(this.#connectTimer)
    this.#moments.connected = performance.now()
    if (secure) this.#phase = "tls"
  }

  onSecured(): void {
    this.#moments.secured = performance.now()
  }

  /** The request is written now. */
  onSending(): void {
    clearTimeout(this.#connectTimer)
    this.#attempted = true
    this.#phase = "response"
    this.#moments.sent = performance.now()
  }

  /** A response head was read, of the final response or one before it. The result is why no more of it is to be read. */
  onResponse(status: number, headers: ResponseHeaders, fields: number): ProtocolError | undefined {
    if (this.#settled) return undefined
    if (fields > maxFields) return new ProtocolError("The response has too many header fields")
    if (status >= 100 && status < 200) {
      return ++this.#informational > maxInformational
        ? new ProtocolError("Too many informational responses came before the response")
        : undefined
    }
    if (status < 200 || status > 599) return new ProtocolError("The response has a status that does not exist")
    this.connection = undefined
    this.#respond(status, headers)
    return undefined
  }

  /** The connection did not come about, or is gone. */
  onFailed(error: Error): void {
    this.connection = undefined
    if (this.#settled) return
    if (error instanceof PeerAddressError) return this.#block("peer-address")
    const code = codeOf(error)
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH") return this.#defect(error)
    if (this.#phase === "connect") return this.#nextAddress(code)
    this.#fail(reasonOf(this.#phase, error), code)
  }

  /** Gives up on the present address. */
  #nextAddress(code: string): void {
    if (this.#settled) return
    clearTimeout(this.#connectTimer)
    this.#abandon()
    const rest = this.#candidates.filter((address) => address !== this.#address)
    if (rest.length === 0 || this.#tried >= maxAddresses) return this.#fail("connect", code)
    this.#candidates = rest
    this.#acquire()
  }

  #onDeadline(): void {
    if (this.#settled) return
    // Settled first, so that what closing reports is not taken for the reason.
    this.#fail("timeout", "DEADLINE")
    this.#abandon()
  }

  /** Lets go of whatever the attempt holds or waits for. */
  #abandon(): void {
    this.#leaveLookup?.()
    this.#leaveLookup = undefined
    this.waitsFor?.leave(this)
    const { connection } = this
    this.connection = undefined
    connection?.close()
  }

  #respond(status: number, headers: ResponseHeaders): void {
    const durationMs = elapsed(this.#moments.started)
    if (status < 300) {
      this.#finish({ _tag: "Delivered", status, attempted: true, durationMs }, "delivered")
      return
    }
    const retryable = status === 429 || status >= 500
    const retryAfter = status === 429 || status === 503 ? headers["retry-after"] : undefined
    const retryAfterMs = typeof retryAfter === "string" ? parseRetryAfter(retryAfter, Date.now()) : undefined
    const refused = { _tag: "Refused", status, retryable, attempted: true, durationMs } as const
    this.#finish(retryAfterMs === undefined ? refused : { ...refused, retryAfterMs }, "refused")
  }

  #fail(reason: FailureReason, code: string): void {
    const durationMs = elapsed(this.#moments.started)
    const outcome = { _tag: "Failed", reason, retryable: true, attempted: this.#attempted, durationMs } as const
    this.#finish(outcome, `failed_${reason}`, code)
  }

  #block(rule: Rule): void {
    const durationMs = elapsed(this.#moments.started)
    this.#finish({ _tag: "Blocked", rule, retryable: false, attempted: false, durationMs }, "blocked")
  }

  #defect(cause: unknown): void {
    if (this.#settled) return
    this.#end("failed_defect", codeOf(cause))
    this.#abandon()
    this.#observer.onDefect(new DispatcherError("defect", "The request could not be made", { cause }))
  }

  #finish(outcome: Outcome, label: AttemptDiagnostics["outcome"], code?: string): void {
    const diagnostics = this.#end(label, code, outcome)
    this.#observer.onOutcome(outcome, diagnostics)
  }

  #end(label: AttemptDiagnostics["outcome"], code?: string, outcome?: Outcome): () => AttemptDiagnostics {
    this.#settled = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#connectTimer)
    this.#moments.ended = performance.now()
    const { hostname, port, secure } = this.url
    const address = this.#address
    const phase = this.#phase
    const addressesTried = this.#tried
    const moments = this.#moments
    observe(this.#engine.instruments, label, moments)
    const report = () =>
      diagnose({ hostname, port, secure, address, phase, addressesTried, moments, label, code, outcome })
    this.#engine.ended(this, report)
    return report
  }
}
