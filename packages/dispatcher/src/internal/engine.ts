/**
 * What all attempts of one dispatcher share: policy, lookups, targets, and the bounds on them.
 *
 * Plain callbacks: both faces of the package are made over it.
 */
import * as tls from "node:tls"
import type { Dispatcher } from "undici"
import { DispatcherError } from "../DispatcherError.ts"
import type { AttemptDiagnostics, DispatcherOptions } from "../Options.ts"
import type { DispatchRequest } from "../Request.ts"
import { resolveWithDns } from "../Resolvers.ts"
import { Attempt, type Settle } from "./attempt.ts"
import type { Connection } from "./connection.ts"
import { Lookups } from "./lookups.ts"
import { compile, type Policy } from "./policy.ts"
import { isDeadline, prepare } from "./request.ts"
import { Target } from "./target.ts"
import { parseTarget } from "./url.ts"

/** How much of a body is discarded to keep its connection, in bytes, and for how long, in milliseconds. */
const maxDiscardBytes = 64 * 1024
const maxDiscardMs = 2_000
/** More than all the heads that one attempt may receive. */
const maxHeadBytes = 256 * 1024
/** How old a connection may become, so that none outlives what it was opened to for long. */
const maxConnectionAgeMs = 300_000
/** How often connections are looked at that receive. */
const watchMs = 100

export class Engine {
  readonly lookups: Lookups
  readonly secureContext: tls.SecureContext
  readonly maxConnections: number
  readonly #policy: Policy
  readonly #options: DispatcherOptions
  readonly #deadlineMs: number
  readonly #maxTargets: number
  /** The one that was used last is at the end. */
  readonly #targets = new Map<string, Target>()
  readonly #attempts = new Set<Attempt>()
  /** Connections that wait for a response head or discard a body. */
  readonly #receiving = new Set<Connection>()
  #watch: NodeJS.Timeout | undefined
  #closed: Promise<void> | undefined
  #onDrained: (() => void) | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#policy = compile(options)
    this.#deadlineMs = options.deadlineMs ?? 10_000
    if (!isDeadline(this.#deadlineMs)) throw invalid("deadlineMs is not a number of milliseconds above 0")
    this.maxConnections = count("maxConnectionsPerTarget", options.maxConnectionsPerTarget, 16)
    this.#maxTargets = count("maxTargets", options.maxTargets, 1_000)
    for (const name of ["resolve", "onConnect", "onAttempt"] as const) {
      if (options[name] !== undefined && typeof options[name] !== "function") throw invalid(`${name} is not a function`)
    }
    this.secureContext = secureContext(options)
    this.lookups = new Lookups(options.resolve ?? resolveWithDns(), this.#policy)
  }

  /** Begins an attempt. The result cancels it. Throws a `DispatcherError` for what the caller did wrong. */
  start(request: DispatchRequest, settle: Settle): () => void {
    if (this.#closed !== undefined) throw new DispatcherError("closed", "The dispatcher is closed")
    const prepared = prepare(request, this.#deadlineMs)
    const before = performance.now()
    const target = parseTarget(request.url, this.#policy)
    if (typeof target === "string") {
      const durationMs = performance.now() - before
      settle({ _tag: "Blocked", rule: target, retryable: false, attempted: false, durationMs })
      return () => {}
    }
    const attempt = new Attempt(this, target, prepared, settle)
    this.#attempts.add(attempt)
    attempt.start()
    return () => attempt.cancel()
  }

  ended(attempt: Attempt): void {
    this.#attempts.delete(attempt)
    if (this.#attempts.size === 0) this.#onDrained?.()
  }

  /**
   * The target of an attempt: one with an idle connection if there is one, else one that is in use and has room, else
   * the first in the order of the answer that has room, else the one with the shortest queue.
   */
  choose(attempt: Attempt, addresses: ReadonlyArray<string>): Target {
    let chosen: Target | undefined
    let best = -1
    for (const address of addresses) {
      const key = `${attempt.target.origin} ${address}`
      const target = this.#targets.get(key)
      const score =
        target === undefined ? 1 : target.idle.length > 0 ? 3 : target.hasRoom ? 2 : 1 / (2 + target.waiters.size)
      if (score <= best) continue
      best = score
      chosen = target ?? new Target(this, key, attempt, address)
      if (score === 3) break
    }
    return this.#touch(chosen!)
  }

  #touch(target: Target): Target {
    if (this.#targets.delete(target.key)) {
      this.#targets.set(target.key, target)
      return target
    }
    this.#targets.set(target.key, target)
    if (this.#targets.size > this.#maxTargets) this.#evict(target)
    return target
  }

  /** Closes the idle connections of the target that was not used for longest. Those in use end by themselves. */
  #evict(except: Target): void {
    for (const target of this.#targets.values()) {
      if (target === except || target.connections.size !== target.idle.length || target.waiters.size > 0) continue
      for (const connection of target.connections) connection.close()
      this.forget(target)
      return
    }
  }

  forget(target: Target): void {
    if (this.#targets.get(target.key) === target) this.#targets.delete(target.key)
  }

  /** Whether a connection that is free may stay open. */
  keeps(target: Target, connection: Connection): boolean {
    return (
      this.#closed === undefined &&
      connection.usable &&
      performance.now() - connection.openedAt < maxConnectionAgeMs &&
      (this.#targets.size <= this.#maxTargets || target.waiters.size > 0)
    )
  }

  connected({ address, hostname, port }: Target): void {
    const { onConnect } = this.#options
    if (onConnect !== undefined) quietly(() => onConnect({ address, port, hostname }))
  }

  report(diagnose: () => AttemptDiagnostics): void {
    const { onAttempt } = this.#options
    if (onAttempt !== undefined) quietly(() => onAttempt(diagnose()))
  }

  // What is received is bounded in bytes and, after the head, in time, for bytes that undici reports nothing of too.

  sending(connection: Connection): void {
    this.#receiving.add(connection)
    this.#watch ??= setInterval(() => this.#look(), watchMs)
  }

  discarding(connection: Connection, controller: Dispatcher.DispatchController, contentLength: unknown): void {
    if (typeof contentLength === "string" && Number(contentLength) > maxDiscardBytes) {
      controller.abort(new Error("The body is longer than what is discarded"))
      return
    }
    connection.bytesBefore = connection.socket?.bytesRead ?? 0
    connection.discardUntil = performance.now() + maxDiscardMs
  }

  idling(connection: Connection): void {
    this.#receiving.delete(connection)
  }

  removed(connection: Connection): void {
    this.#receiving.delete(connection)
  }

  #look(): void {
    const now = performance.now()
    for (const connection of this.#receiving) {
      const received = (connection.socket?.bytesRead ?? 0) - connection.bytesBefore
      if (connection.discardUntil === 0) {
        if (received > maxHeadBytes) connection.attempt?.overflow()
      } else if (received > maxDiscardBytes || now > connection.discardUntil) {
        connection.close()
      }
    }
    if (this.#receiving.size > 0) return
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  /** Refuses new attempts, lets those that were begun end within their deadlines, then closes every connection. */
  close(): Promise<void> {
    return (this.#closed ??= this.#drain().then(() => this.#closeTargets()))
  }

  /** Ends everything at once. Attempts that were begun get no outcome. */
  destroy(): void {
    this.#closed ??= Promise.resolve()
    for (const attempt of this.#attempts) attempt.cancel()
    this.#closeTargets()
  }

  #drain(): Promise<void> {
    return this.#attempts.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onDrained = resolve))
  }

  #closeTargets(): void {
    for (const target of this.#targets.values()) {
      for (const connection of target.connections) connection.close()
    }
    this.#targets.clear()
    clearInterval(this.#watch)
    this.#watch = undefined
  }
}

const invalid = (message: string, cause?: unknown) => new DispatcherError("invalid_options", message, { cause })

const count = (name: string, value: number | undefined, otherwise: number): number => {
  if (value === undefined) return otherwise
  if (!Number.isInteger(value) || value < 1) throw invalid(`${name} is not a whole number above 0`)
  return value
}

const secureContext = ({ tls: settings }: DispatcherOptions): tls.SecureContext => {
  const ca = settings?.ca
  try {
    return tls.createSecureContext({
      minVersion: "TLSv1.2",
      ...(ca === undefined ? undefined : { ca: (Array.isArray(ca) ? ca : [ca]).map(toBuffer) })
    })
  } catch (cause) {
    throw invalid("tls.ca cannot be read", cause)
  }
}

const toBuffer = (pem: string | Uint8Array): Buffer => Buffer.from(pem as string)

/** A hook is not ours, and what it throws must not end an attempt. */
const quietly = (hook: () => void): void => {
  try {
    hook()
  } catch {
    // Documented at both hooks.
  }
}
