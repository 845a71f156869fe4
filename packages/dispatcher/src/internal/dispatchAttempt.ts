/**
 * One attempt, from the call to its outcome: a lookup, a connection of a pool, a response head.
 *
 * Nothing here throws: errors are classified.
 */
import { DispatcherError } from "../DispatcherError.ts"
import type { AttemptDiagnostics, Phase } from "../Options.ts"
import type { FailureReason, Outcome } from "../Outcome.ts"
import { mayRequestWait, parseRetryAfter } from "../RetryAfter.ts"
import type { Rule } from "../Rule.ts"
import { codeOf, isRetryableStatus, PeerAddressError, ProtocolError, reasonOf } from "./classify.ts"
import type { Connection, ResponseHeaders } from "./connection.ts"
import type { ConnectionPool, Waiter } from "./connectionPool.ts"
import { diagnose, observe, type PhaseTimestamps } from "./diagnostics.ts"
import type { Instruments } from "./instruments.ts"
import { Entry } from "./list.ts"
import type { Answer, Lookups } from "./lookups.ts"
import type { PoolManager } from "./poolManager.ts"
import type { Prepared } from "./request.ts"
import { elapsed } from "./time.ts"
import type { ParsedUrl } from "./url.ts"

/** How many addresses of one answer are tried. */
const maxAddresses = 3
/** How long an address that is not the last to try may take to connect, in milliseconds. */
const connectTimeoutMs = 3_000
/** How many informational responses may come before the final one. */
const maxInformational = 8
/** How many header fields a response may have. */
const maxFields = 200

/** Receives the end of an attempt. One of the three is called, once. */
export interface Observer {
  readonly onOutcome: (outcome: Outcome, diagnose: () => AttemptDiagnostics) => void
  readonly onDefect: (error: DispatcherError) => void
  /** The dispatcher was destroyed. Not called for `cancel`. */
  readonly onDestroyed: () => void
}

/** The parts of its dispatcher that an attempt uses. */
export interface AttemptOwner {
  readonly lookups: Lookups
  readonly pools: PoolManager
  readonly instruments: Instruments
  onEnded(attempt: DispatchAttempt, report: () => AttemptDiagnostics): void
}

export class DispatchAttempt implements Waiter {
  readonly dispatchOptions: Waiter["dispatchOptions"]
  readonly inFlight = new Entry<DispatchAttempt>(this)
  readonly waiting: Entry<Waiter> = new Entry<Waiter>(this)
  connection: Connection | undefined
  waitsFor: ConnectionPool | undefined
  readonly #owner: AttemptOwner
  readonly #url: ParsedUrl
  readonly #deadlineMs: number
  readonly #observer: Observer
  readonly #timestamps: PhaseTimestamps = { started: performance.now() }
  #phase: Phase = "lookup"
  #ended = false
  #attempted = false
  #leaveLookup: (() => void) | undefined
  #deadline: NodeJS.Timeout | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #candidates: ReadonlyArray<string> = []
  #pool: ConnectionPool | undefined
  #tried = 0
  #informational = 0

  constructor(
    owner: AttemptOwner,
    url: ParsedUrl,
    { body, deadlineMs, headers, method }: Prepared,
    observer: Observer
  ) {
    this.#owner = owner
    this.#url = url
    this.#deadlineMs = deadlineMs
    this.#observer = observer
    this.dispatchOptions = { origin: url.origin, path: url.path, method, headers, body }
  }

  start(): void {
    this.#deadline = setTimeout(() => this.#onDeadline(), this.#deadlineMs)
    const { addresses, hostname } = this.#url
    if (addresses === undefined) {
      this.#leaveLookup = this.#owner.lookups.join(hostname, (answer) => this.#onAnswer(answer))
    } else {
      this.#onAnswer({ _tag: "Addresses", addresses })
    }
  }

  /** Ends the attempt without an outcome and closes its connection. */
  cancel(): void {
    if (this.#ended) return
    this.#end("interrupted")
    this.#release()
  }

  /** Like `cancel`, and calls the observer. */
  destroy(): void {
    if (this.#ended) return
    this.cancel()
    this.#observer.onDestroyed()
  }

  #onAnswer(answer: Answer): void {
    if (this.#ended) return
    this.#leaveLookup = undefined
    if (this.#url.addresses === undefined) this.#timestamps.lookedUp = performance.now()
    switch (answer._tag) {
      case "Addresses":
        this.#candidates = answer.addresses
        return this.#acquire()
      case "Blocked":
        return this.#block(answer.rule)
      case "Failed":
        return this.#fail("dns", answer.code)
    }
  }

  #acquire(): void {
    this.#phase = "queue"
    this.guard(() => {
      const pool = this.#owner.pools.choose(this.#url, this.#candidates)
      this.#pool = pool
      pool.take(this)
    })
  }

  guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#defect(error)
    }
  }

  onAcquired(): void {
    this.#timestamps.acquired = performance.now()
    this.#timestamps.connected = undefined
    this.#phase = "connect"
    this.#tried++
    if (this.#tried < maxAddresses && this.#candidates.length > 1) {
      const leftMs = this.#deadlineMs - (this.#timestamps.acquired - this.#timestamps.started)
      this.#connectTimer = setTimeout(() => this.#nextAddress("ETIMEDOUT"), Math.min(connectTimeoutMs, leftMs / 2))
    }
  }

  onConnected(secure: boolean): void {
    clearTimeout(this.#connectTimer)
    this.#timestamps.connected = performance.now()
    if (secure) this.#phase = "tls"
  }

  onSecured(): void {
    this.#timestamps.secured = performance.now()
  }

  onSending(): void {
    clearTimeout(this.#connectTimer)
    this.#attempted = true
    this.#phase = "response"
    this.#timestamps.sent = performance.now()
  }

  onResponse(status: number, headers: ResponseHeaders, fields: number): ProtocolError | undefined {
    if (this.#ended) return undefined
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

  onFailed(error: Error): void {
    this.connection = undefined
    if (this.#ended) return
    if (error instanceof PeerAddressError) return this.#block("peer-address")
    const code = codeOf(error)
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH") return this.#defect(error)
    if (this.#phase === "connect") return this.#nextAddress(code)
    this.#fail(reasonOf(this.#phase, error), code)
  }

  /** Tries the next address, or fails where there is none. */
  #nextAddress(code: string): void {
    if (this.#ended) return
    clearTimeout(this.#connectTimer)
    this.#release()
    const rest = this.#candidates.filter((address) => address !== this.#pool?.endpoint.address)
    if (rest.length === 0 || this.#tried >= maxAddresses) return this.#fail("connect", code)
    this.#candidates = rest
    this.#acquire()
  }

  #onDeadline(): void {
    if (this.#ended) return
    // Ended first, so that the error of closing the connection is not taken for the reason.
    this.#fail("timeout", "DEADLINE")
    this.#release()
    // They may have gone silent together with the one of this attempt.
    this.#pool?.closeIdleSince(this.#timestamps.started)
  }

  /** Leaves what the attempt waits for and closes its connection. */
  #release(): void {
    this.#leaveLookup?.()
    this.#leaveLookup = undefined
    this.waitsFor?.leave(this)
    const { connection } = this
    this.connection = undefined
    connection?.close()
  }

  #respond(status: number, headers: ResponseHeaders): void {
    const durationMs = elapsed(this.#timestamps.started)
    if (status < 300) {
      this.#finish({ _tag: "Delivered", status, attempted: true, durationMs }, "delivered")
      return
    }
    const retryable = isRetryableStatus(status)
    const retryAfter = mayRequestWait(status) ? headers["retry-after"] : undefined
    const retryAfterMs = typeof retryAfter === "string" ? parseRetryAfter(retryAfter, Date.now()) : undefined
    const refused = { _tag: "Refused", status, retryable, attempted: true, durationMs } as const
    this.#finish(retryAfterMs === undefined ? refused : { ...refused, retryAfterMs }, "refused")
  }

  #fail(reason: FailureReason, code: string): void {
    const durationMs = elapsed(this.#timestamps.started)
    const outcome = { _tag: "Failed", reason, retryable: true, attempted: this.#attempted, durationMs } as const
    this.#finish(outcome, `failed_${reason}`, code)
  }

  #block(rule: Rule): void {
    const durationMs = elapsed(this.#timestamps.started)
    this.#finish({ _tag: "Blocked", rule, retryable: false, attempted: false, durationMs }, "blocked")
  }

  #defect(cause: unknown): void {
    if (this.#ended) return
    this.#end("failed_defect", codeOf(cause))
    this.#release()
    this.#observer.onDefect(new DispatcherError("defect", "The dispatcher failed to make the request", { cause }))
  }

  #finish(outcome: Outcome, label: AttemptDiagnostics["outcome"], code?: string): void {
    const diagnostics = this.#end(label, code, outcome)
    this.#observer.onOutcome(outcome, diagnostics)
  }

  #end(label: AttemptDiagnostics["outcome"], code?: string, outcome?: Outcome): () => AttemptDiagnostics {
    this.#ended = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#connectTimer)
    this.#timestamps.ended = performance.now()
    const { hostname, port, secure } = this.#url
    const address = this.#pool?.endpoint.address
    const phase = this.#phase
    const addressesTried = this.#tried
    const timestamps = this.#timestamps
    observe(this.#owner.instruments, label, timestamps)
    const report = () =>
      diagnose({ hostname, port, secure, address, phase, addressesTried, timestamps, label, code, outcome })
    this.#owner.onEnded(this, report)
    return report
  }
}
