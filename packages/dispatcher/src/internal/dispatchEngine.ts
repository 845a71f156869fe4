/**
 * The parts that all attempts of one dispatcher share: settings, lookups and connection pools.
 *
 * Callbacks, without promises and Effect. The Effect API is built over it, and the promise API over that.
 */
import type * as Context from "effect/Context"
import { DispatcherError } from "../DispatcherError.ts"
import type { AttemptDiagnostics } from "../Options.ts"
import type { DispatchRequest } from "../Request.ts"
import type { Rule } from "../Rule.ts"
import { DispatchAttempt, type Observer } from "./dispatchAttempt.ts"
import { diagnose, observe } from "./diagnostics.ts"
import { Handshakes } from "./handshakes.ts"
import { ignoreErrors } from "./ignoreErrors.ts"
import { Instruments } from "./instruments.ts"
import { List } from "./list.ts"
import { Lookups } from "./lookups.ts"
import { PoolManager } from "./poolManager.ts"
import { prepare, type Prepared } from "./request.ts"
import type { Settings } from "./settings.ts"
import { between } from "./time.ts"
import { UrlCache } from "./urlCache.ts"

export class DispatchEngine {
  readonly instruments: Instruments
  readonly lookups: Lookups
  readonly pools: PoolManager
  readonly #settings: Settings
  readonly #urls: UrlCache
  readonly #attempts = new List<DispatchAttempt>()
  #closed: Promise<void> | undefined
  #onDrained: (() => void) | undefined

  constructor(settings: Settings, context: Context.Context<never>) {
    const { limits, onConnect, policy, proxy, resolve, secureContext } = settings
    this.#settings = settings
    this.#urls = new UrlCache(policy)
    this.instruments = new Instruments(context)
    this.lookups = new Lookups(resolve, policy, this.instruments)
    const socketSettings = { secureContext, handshakes: new Handshakes(policy.nat64), proxy }
    this.pools = new PoolManager(limits, socketSettings, this.instruments, ({ address, hostname, port }) => {
      if (onConnect !== undefined) ignoreErrors(() => onConnect({ address, port, hostname }))
    })
  }

  /** Validates a request. Throws a `DispatcherError` for a mistake of the caller, and after `close`. */
  prepare(request: DispatchRequest): Prepared {
    this.#assertOpen()
    return prepare(request, this.#settings.deadlineMs)
  }

  /** Starts an attempt. The result cancels it. Throws a `DispatcherError` after `close`. */
  start(prepared: Prepared, observer: Observer): () => void {
    this.#assertOpen()
    const started = performance.now()
    const url = this.#urls.judge(prepared.url)
    if (typeof url === "string") {
      this.#block(url, started, observer)
      return () => {}
    }
    const attempt = new DispatchAttempt(this, url, prepared, observer)
    this.#attempts.add(attempt.inFlight)
    this.instruments.adjust("attempts", 1)
    attempt.start()
    return () => attempt.cancel()
  }

  #assertOpen(): void {
    if (this.#closed !== undefined)
      throw new DispatcherError(
        "closed",
        "The dispatcher is closed. Make another one, or close it after the last request."
      )
  }

  #block(rule: Rule, started: number, observer: Observer): void {
    const ended = performance.now()
    const timestamps = { started, ended }
    const outcome = {
      _tag: "Blocked",
      rule,
      retryable: false,
      attempted: false,
      durationMs: between(started, ended)
    } as const
    observe(this.instruments, "blocked", timestamps)
    const report = () => diagnose({ timestamps, outcome, label: "blocked", phase: "guard", addressesTried: 0 })
    this.#report(report)
    observer.onOutcome(outcome, report)
  }

  onEnded(attempt: DispatchAttempt, report: () => AttemptDiagnostics): void {
    if (this.#attempts.delete(attempt.inFlight)) this.instruments.adjust("attempts", -1)
    this.#report(report)
    if (this.#attempts.size === 0) this.#onDrained?.()
  }

  // Deferred: this is called from inside of undici's parser, which a hook that sends must not enter again.
  #report(report: () => AttemptDiagnostics): void {
    const { onAttempt } = this.#settings
    if (onAttempt !== undefined) queueMicrotask(() => ignoreErrors(() => onAttempt(report())))
  }

  /** Refuses new attempts, lets those in flight end within their deadlines, then closes every connection. */
  close(): Promise<void> {
    this.pools.drain()
    return (this.#closed ??= this.#drained().then(() => this.pools.close()))
  }

  /** Ends all attempts and closes every connection at once. */
  destroy(): void {
    this.#closed ??= Promise.resolve()
    for (const attempt of this.#attempts) attempt.destroy()
    this.pools.close()
  }

  #drained(): Promise<void> {
    return this.#attempts.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve))
  }
}
