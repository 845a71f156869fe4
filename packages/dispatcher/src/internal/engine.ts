/**
 * What all attempts of one dispatcher share: policy, lookups, targets, and the bounds on them.
 *
 * Plain callbacks; the Effect face is made over them, and the promise face over that.
 */
import type { SecureContext } from "node:tls"
import type * as Context from "effect/Context"
import { DispatcherError } from "../DispatcherError.ts"
import type { Rule } from "../Guard.ts"
import type { AttemptDiagnostics, DispatcherOptions } from "../Options.ts"
import type { DispatchRequest } from "../Request.ts"
import { resolveWithDns } from "../Resolvers.ts"
import { Attempt, type Observer } from "./attempt.ts"
import type { Connection } from "./connection.ts"
import { diagnose, observe } from "./diagnostics.ts"
import { Instruments } from "./instruments.ts"
import { List } from "./list.ts"
import { Lookups } from "./lookups.ts"
import { compile } from "./policy.ts"
import { isDeadline, prepare } from "./request.ts"
import { secureContext } from "./secureContext.ts"
import type { Target } from "./target.ts"
import { Targets } from "./targets.ts"
import { between } from "./time.ts"
import { type Proxy, readProxy } from "./tunnel.ts"
import { Urls } from "./urls.ts"

/** How often connections that receive are held to their bounds, in milliseconds. */
const checkMs = 100

export class Engine {
  readonly instruments: Instruments
  readonly lookups: Lookups
  readonly secureContext: SecureContext
  readonly maxConnections: number
  readonly proxy: Proxy | undefined
  readonly #urls: Urls
  readonly #options: DispatcherOptions
  readonly #deadlineMs: number
  readonly #targets: Targets
  readonly #attempts = new List<Attempt>()
  /** Connections that wait for a response head or discard a body. */
  readonly #receiving = new List<Connection>()
  #checks: NodeJS.Timeout | undefined
  #closed: Promise<void> | undefined
  #onDrained: (() => void) | undefined

  /** Throws a `DispatcherError` for options that cannot be read. */
  constructor(options: DispatcherOptions, context: Context.Context<never>) {
    this.#options = options
    const policy = compile(options)
    this.#urls = new Urls(policy)
    this.#deadlineMs = options.deadlineMs ?? 10_000
    if (!isDeadline(this.#deadlineMs)) throw invalid("deadlineMs is not a number of milliseconds above 0")
    this.maxConnections = count("maxConnectionsPerTarget", options.maxConnectionsPerTarget, 64)
    this.#targets = new Targets(this, count("maxTargets", options.maxTargets, 1_000))
    for (const name of ["resolve", "onConnect", "onAttempt"] as const) {
      if (options[name] !== undefined && typeof options[name] !== "function") throw invalid(`${name} is not a function`)
    }
    this.secureContext = secureContext(options.tls)
    this.proxy = readProxy(options.proxy)
    this.instruments = new Instruments(context)
    this.lookups = new Lookups(options.resolve ?? resolveWithDns(), policy, this.instruments)
  }

  /** Begins an attempt. The result cancels it. Throws a `DispatcherError` for what the caller did wrong. */
  start(request: DispatchRequest, observer: Observer): () => void {
    if (this.#closed !== undefined) throw new DispatcherError("closed", "The dispatcher is closed")
    const prepared = prepare(request, this.#deadlineMs)
    const started = performance.now()
    const url = this.#urls.judge(request.url)
    if (typeof url === "string") {
      this.#refuse(url, started, observer)
      return () => {}
    }
    const attempt = new Attempt(this, url, prepared, observer)
    this.#attempts.add(attempt.underWay)
    this.instruments.move("attempts", 1)
    attempt.start()
    return () => attempt.cancel()
  }

  #refuse(rule: Rule, started: number, observer: Observer): void {
    const ended = performance.now()
    const moments = { started, ended }
    const outcome = {
      _tag: "Blocked",
      rule,
      retryable: false,
      attempted: false,
      durationMs: between(started, ended)
    } as const
    observe(this.instruments, "blocked", moments)
    const report = () => diagnose({ moments, outcome, label: "blocked", phase: "guard", addressesTried: 0 })
    this.#report(report)
    observer.onOutcome(outcome, report)
  }

  ended(attempt: Attempt, report: () => AttemptDiagnostics): void {
    if (this.#attempts.delete(attempt.underWay)) this.instruments.move("attempts", -1)
    this.#report(report)
    if (this.#attempts.size === 0) this.#onDrained?.()
  }

  choose(attempt: Attempt, addresses: ReadonlyArray<string>): Target {
    return this.#targets.choose(attempt, addresses)
  }

  use(target: Target): void {
    this.#targets.use(target)
  }

  forget(target: Target): void {
    this.#targets.forget(target)
  }

  /** Whether a connection that is free may stay open. */
  keeps(target: Target): boolean {
    return target.waiters.size > 0 || (this.#closed === undefined && !this.#targets.crowded)
  }

  connected({ address, hostname, port }: Target): void {
    this.instruments.opened()
    const { onConnect } = this.#options
    if (onConnect !== undefined) quietly(() => onConnect({ address, port, hostname }))
  }

  // Not at once: this is called from inside of undici's parser, and what a hook calls could enter it again.
  #report(report: () => AttemptDiagnostics): void {
    const { onAttempt } = this.#options
    if (onAttempt !== undefined) queueMicrotask(() => quietly(() => onAttempt(report())))
  }

  receives(connection: Connection): void {
    this.#receiving.add(connection.receiving)
    // The sockets keep the process alive while there is a reason to.
    this.#checks ??= setInterval(() => this.#check(), checkMs).unref()
  }

  idles(connection: Connection): void {
    this.#receiving.delete(connection.receiving)
  }

  #check(): void {
    const now = performance.now()
    for (const connection of this.#receiving) connection.check(now)
    if (this.#receiving.size === 0) this.#stopChecks()
  }

  #stopChecks(): void {
    clearInterval(this.#checks)
    this.#checks = undefined
  }

  /** Refuses new attempts, lets those that were begun end within their deadlines, then closes every connection. */
  close(): Promise<void> {
    return (this.#closed ??= this.#drained().then(() => this.#closeAll()))
  }

  /** Ends everything at once. */
  destroy(): void {
    this.#closed ??= Promise.resolve()
    for (const attempt of this.#attempts) attempt.destroy()
    this.#closeAll()
  }

  #drained(): Promise<void> {
    return this.#attempts.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve))
  }

  #closeAll(): void {
    this.#targets.close()
    this.#stopChecks()
  }
}

const invalid = (message: string) => new DispatcherError("invalid_options", message)

const count = (name: string, value: number | undefined, otherwise: number): number => {
  if (value === undefined) return otherwise
  if (!Number.isInteger(value) || value < 1) throw invalid(`${name} is not a whole number above 0`)
  return value
}

/** A hook is not ours, and what it throws must not end an attempt. */
const quietly = (hook: () => void): void => {
  try {
    hook()
  } catch {
    // Said at both hooks.
  }
}
