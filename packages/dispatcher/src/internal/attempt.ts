/**
 * One attempt, from the call to its outcome, and then until its connection is free again.
 *
 * It is the handler that undici reports to. Nothing here throws: what goes wrong is classified.
 */
import type { Dispatcher } from "undici"
import { DispatcherError } from "../DispatcherError.ts"
import type { Rule } from "../Guard.ts"
import type { AttemptDiagnostics, Phase } from "../Options.ts"
import type { FailureReason, Outcome } from "../Outcome.ts"
import { parseRetryAfter } from "../RetryAfter.ts"
import { codeOf, PeerAddressError, ProtocolError, reasonOf } from "./classify.ts"
import type { Connection } from "./connection.ts"
import type { Engine } from "./engine.ts"
import type { Answer } from "./lookups.ts"
import type { Prepared } from "./request.ts"
import type { Target } from "./target.ts"
import type { Target as UrlTarget } from "./url.ts"

/** How many addresses of one answer are tried. */
const maxAddresses = 3
/** How long an address that is not the last to try may take to connect. */
const connectTimeoutMs = 3_000
/** How many informational responses may come before the final one. */
const maxInformational = 8
/** How many header fields a response may have. */
const maxHeaders = 200

export type Settle = (outcome: Outcome, error?: DispatcherError) => void

export class Attempt implements Dispatcher.DispatchHandler {
  readonly target: UrlTarget
  connection: Connection | undefined
  waitsFor: Target | undefined
  readonly dispatchOptions: Dispatcher.DispatchOptions
  readonly #engine: Engine
  readonly #deadlineMs: number
  readonly #settle: Settle
  readonly #startedAt = performance.now()
  #phase: Phase = "lookup"
  #settled = false
  #attempted = false
  #leave: (() => void) | undefined
  #deadline: NodeJS.Timeout | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #candidates: ReadonlyArray<string> = []
  #address: string | undefined
  #tried = 0
  #informational = 0
  #controller: Dispatcher.DispatchController | undefined
  #lookedUpAt: number | undefined
  #acquiredAt: number | undefined
  #connectedAt: number | undefined
  #securedAt: number | undefined
  #sentAt: number | undefined

  constructor(engine: Engine, target: UrlTarget, prepared: Prepared, settle: Settle) {
    this.#engine = engine
    this.target = target
    this.#deadlineMs = prepared.deadlineMs
    this.#settle = settle
    this.dispatchOptions = {
      path: target.path,
      method: prepared.method,
      headers: prepared.headers as Array<string>,
      body: prepared.body
    }
  }

  start(): void {
    this.#deadline = setTimeout(() => this.#onDeadline(), this.#deadlineMs)
    const { addresses, hostname } = this.target
    if (addresses === undefined) {
      this.#leave = this.#engine.lookups.join(hostname, (answer) => this.#onAnswer(answer))
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

  #onAnswer(answer: Answer): void {
    if (this.#settled) return
    this.#leave = undefined
    this.#lookedUpAt = performance.now()
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
    const target = this.#engine.choose(this, this.#candidates)
    this.#address = target.address
    target.take(this)
  }

  // What a connection tells the attempt it carries.

  onAcquired(): void {
    this.#acquiredAt = performance.now()
    this.#phase = "connect"
    this.#tried++
    if (this.#tried < maxAddresses && this.#candidates.length > 1) {
      const left = this.#deadlineMs - (this.#acquiredAt - this.#startedAt)
      this.#connectTimer = setTimeout(() => this.#nextAddress("ETIMEDOUT"), Math.min(connectTimeoutMs, left / 2))
    }
  }

  onConnected(secure: boolean): void {
    clearTimeout(this.#connectTimer)
    this.#connectedAt = performance.now()
    if (secure) this.#phase = "tls"
  }

  onSecured(): void {
    this.#securedAt = performance.now()
  }

  // What undici tells.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#connectTimer)
    this.#controller = controller
    this.#attempted = true
    this.#phase = "response"
    this.#sentAt = performance.now()
    this.#engine.sending(this.connection!)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ): void {
    if (this.#settled) return
    if (fieldCount(controller.rawHeaders) > maxHeaders) {
      controller.abort(new ProtocolError("The response has too many header fields"))
    } else if (status >= 100 && status < 200) {
      if (++this.#informational > maxInformational) {
        controller.abort(new ProtocolError("The response has too many informational responses before it"))
      }
    } else if (status < 200 || status > 599) {
      controller.abort(new ProtocolError("The response has a status that does not exist"))
    } else {
      this.#respond(status, headers)
      this.#engine.discarding(this.connection!, controller, headers["content-length"])
    }
  }

  onResponseData(): void {}

  /** More came than any response head can be. */
  overflow(): void {
    this.#controller?.abort(new ProtocolError("The response head does not end"))
  }

  onResponseEnd(): void {
    const { connection } = this
    this.connection = undefined
    if (connection === undefined) return
    this.#engine.idling(connection)
    connection.target.release(connection)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const { connection } = this
    this.connection = undefined
    connection?.close()
    if (this.#settled) return
    if (error instanceof PeerAddressError) return this.#block("peer-address")
    const code = codeOf(error)
    if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH") {
      return this.#defect(error)
    }
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
    this.#leave?.()
    this.#leave = undefined
    this.waitsFor?.waiters.delete(this)
    this.waitsFor = undefined
    const { connection } = this
    this.connection = undefined
    connection?.close()
  }

  #respond(status: number, headers: Record<string, string | Array<string> | undefined>): void {
    const durationMs = this.#elapsed()
    if (status < 300) {
      this.#finish({ _tag: "Delivered", status, attempted: true, durationMs }, "delivered")
      return
    }
    const retryAfter = status === 429 || status === 503 ? headers["retry-after"] : undefined
    const retryAfterMs = typeof retryAfter === "string" ? parseRetryAfter(retryAfter, Date.now()) : undefined
    const refused = {
      _tag: "Refused",
      status,
      retryable: status === 429 || status >= 500,
      attempted: true,
      durationMs
    } as const
    this.#finish(retryAfterMs === undefined ? refused : { ...refused, retryAfterMs }, "refused")
  }

  #fail(reason: FailureReason, code: string): void {
    this.#finish(
      { _tag: "Failed", reason, retryable: true, attempted: this.#attempted, durationMs: this.#elapsed() },
      `failed_${reason}`,
      code
    )
  }

  #block(rule: Rule): void {
    this.#finish({ _tag: "Blocked", rule, retryable: false, attempted: false, durationMs: this.#elapsed() }, "blocked")
  }

  #defect(cause: Error): void {
    const outcome: Outcome = {
      _tag: "Failed",
      reason: "protocol",
      retryable: true,
      attempted: this.#attempted,
      durationMs: this.#elapsed()
    }
    this.#end("failed_defect", codeOf(cause))
    this.#settle(outcome, new DispatcherError("defect", "The request could not be written", { cause }))
  }

  #finish(outcome: Outcome, label: AttemptDiagnostics["outcome"], code?: string): void {
    this.#end(label, code, outcome)
    this.#settle(outcome)
  }

  #end(label: AttemptDiagnostics["outcome"], code?: string, outcome?: Outcome): void {
    this.#settled = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#connectTimer)
    this.#engine.ended(this)
    this.#engine.report(() => this.#diagnose(label, code, outcome))
  }

  #elapsed(): number {
    return rounded(performance.now() - this.#startedAt)
  }

  #diagnose(label: AttemptDiagnostics["outcome"], code?: string, outcome?: Outcome): AttemptDiagnostics {
    const now = performance.now()
    const span = (from: number | undefined, to: number | undefined) =>
      from === undefined ? undefined : rounded((to ?? now) - from)
    const connecting = this.#connectedAt === undefined && this.#sentAt !== undefined ? undefined : this.#acquiredAt
    return {
      hostname: this.target.hostname,
      port: this.target.port,
      outcome: label,
      phase: outcome?._tag === "Delivered" || outcome?._tag === "Refused" ? "done" : this.#phase,
      address: this.#address,
      addressesTried: this.#tried,
      reusedConnection: this.#sentAt !== undefined && this.#connectedAt === undefined,
      code,
      rule: outcome?._tag === "Blocked" ? outcome.rule : undefined,
      status: outcome !== undefined && "status" in outcome ? outcome.status : undefined,
      durationMs: rounded(now - this.#startedAt),
      timings: {
        lookupMs: this.target.addresses === undefined ? span(this.#startedAt, this.#lookedUpAt) : undefined,
        queueMs: span(this.#lookedUpAt, this.#acquiredAt),
        connectMs: span(connecting, this.#connectedAt),
        tlsMs: this.target.secure ? span(this.#connectedAt, this.#securedAt) : undefined,
        responseMs: span(this.#sentAt, undefined)
      }
    }
  }
}

const fieldCount = (raw: Dispatcher.DispatchController["rawHeaders"]): number =>
  Array.isArray(raw) ? raw.length / 2 : 0

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1_000) / 1_000
