/** The state that the lanes of a process share. It outlives their leases, which end while a lane waits. */
import type { Ids, Invoice } from "@govoice/core"
import type { LoginStatuses } from "@govoice/ksef/protocol"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import * as ThrottledLog from "../../observability/ThrottledLog.ts"
import { RateLimitWindows } from "./RateLimitWindows.ts"
import { Troubles } from "./Troubles.ts"
import * as LaneRules from "./LaneRules.ts"
import { Effect, Latch, Semaphore } from "effect"

const keptMs = 24 * 3_600_000

/** Keeps the last failure of each key, of this process alone. It is evicted after a day without another. */
export class RecentFailures<Failure> {
  // In the order of their times.
  readonly #entries = new Map<string, { readonly failure: Failure; readonly at: number }>()

  /** Returns the last failure, unless it is too old. */
  get(key: string, now: number): Failure | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.at + keptMs <= now ? undefined : entry.failure
  }

  /** Replaces the last failure, and evicts those that are too old. */
  set(key: string, failure: Failure, now: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { failure, at: now })
    for (const [other, { at }] of this.#entries) {
      if (at + keptMs > now) return
      this.#entries.delete(other)
    }
  }

  /** Forgets the failures of a key. */
  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** How many keys are kept. */
  get size(): number {
    return this.#entries.size
  }
}

/** The failed uploads of the lanes of this process. It outlives the leases, which end while a lane waits. */
export class UploadBackoff {
  readonly #failures = new RecentFailures<{ readonly count: number; readonly until: number }>()

  /** Records that the archive of a batch could not be uploaded, and returns from when on the next one may be opened. */
  failed(context: string, now: number): number {
    const count = (this.#failures.get(context, now)?.count ?? 0) + 1
    const until = now + LaneRules.failedUploadWait(count)
    this.#failures.set(context, { count, until }, now)
    return until
  }

  /** Forgets the failures of a taxpayer. */
  succeeded(context: string): void {
    this.#failures.delete(context)
  }

  /** Returns from when on a batch may be opened; 0 where nothing has failed. No wait is as long as a failure is kept. */
  waitUntil(context: string): number {
    return this.#failures.get(context, 0)?.until ?? 0
  }
}

/** How many batches a process sends at once: archives are in memory until they are uploaded. */
const maxBatches = 2

/** Slots for the batches of all lanes of a process, given in turn. */
export class BatchSlots {
  readonly #slots = Semaphore.makeUnsafe(maxBatches)
  #waiting = 0

  /** Whether a batch waits for a slot. */
  get isContended(): boolean {
    return this.#waiting > 0
  }

  /** Runs an effect in a slot. */
  withSlot<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let waits = 1
      this.#waiting += 1
      const stopWaiting = Effect.sync(() => {
        this.#waiting -= waits
        waits = 0
      })
      const inSlot = this.#slots.withPermits(1)(Effect.andThen(stopWaiting, effect))
      return Effect.ensuring(inSlot, stopWaiting)
    })
  }
}

// Other words of the beacon are none that an owner knows.
const reasons: ReadonlySet<string> = new Set(["MAINTENANCE", "FAILURE", "TOTAL_FAILURE"])

/** How many of the invoices that were tried last are told the reason. */
const maxTried = 1000

/** The reason of the outage of a process, and the invoices that were tried before it was known. */
export class OutageReason {
  #sentence = ""
  readonly #tried = new Set<Ids.InvoiceId>()

  /** The reason as a sentence that follows another one; empty where none is known. */
  get sentence(): string {
    return this.#sentence
  }

  /** Remembers an invoice that was tried in vain. */
  tried(id: Ids.InvoiceId): void {
    this.#tried.delete(id)
    this.#tried.add(id)
    for (const oldest of this.#tried) {
      if (this.#tried.size <= maxTried) return
      this.#tried.delete(oldest)
    }
  }

  /** Takes the status of the beacon. */
  report(status: string | undefined): void {
    this.#sentence = status !== undefined && reasons.has(status) ? ` KSeF reports ${status}.` : ""
  }

  /** Tells the reason to the invoices that were tried, where it is known. They are kept for the next time where that fails. */
  tell<E, R>(
    explain: (tried: ReadonlyArray<Ids.InvoiceId>, sentence: string) => Effect.Effect<unknown, E, R>
  ): Effect.Effect<void, E, R> {
    return Effect.suspend(() => {
      const tried = [...this.#tried]
      if (this.#sentence === "" || tried.length === 0) return Effect.void
      return Effect.map(explain(tried, this.#sentence), () => {
        for (const id of tried) this.#tried.delete(id)
      })
    })
  }

  /** The outage is over. */
  end(): void {
    this.#sentence = ""
    this.#tried.clear()
  }
}

const organizationsToTell = 3
const withinMs = 600_000

/**
 * Detects the end of logins by token for everybody: KSeF refuses those of several organizations within minutes, whose tokens it had
 * accepted, and accepts none between them.
 *
 * The rule that allows tokens ends on 2026-12-31, and how KSeF will answer after it is not documented.
 */
export class TokenLoginSunset {
  #refusals: ReadonlyMap<string, number> = new Map()
  #hasEnded = false
  #wasLogged = false

  /** Whether a refusal is one of tokens as such. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Counts a refusal of a token that was accepted before. */
  refused(organizationId: string, now: number): void {
    const recent = [...this.#refusals].filter(([, at]) => at > now - withinMs)
    this.#refusals = new Map([...recent, [organizationId, now]])
    this.#hasEnded ||= this.#refusals.size >= organizationsToTell
  }

  succeeded(): void {
    this.#refusals = new Map()
    this.#hasEnded = false
    this.#wasLogged = false
  }

  /** Tells whether the end is to be logged: once, until a login succeeds. */
  shouldLog(): boolean {
    const isFirst = !this.#wasLogged
    this.#wasLogged = true
    return isFirst
  }
}

/** How the last login with a credential failed, and how often in the same way. */
interface FailedLogin {
  readonly credential: number
  readonly action: LoginStatuses.LoginAction
  readonly count: number
}

/** The failed logins of a process, by organization. */
export type FailedLogins = RecentFailures<FailedLogin>

/** The state of a process. */
export interface LaneProcess {
  readonly breaker: CircuitBreaker
  readonly outage: OutageReason
  /** Requests under way at once: calls of the API and uploads. */
  readonly permits: Semaphore.Semaphore
  /** The same of receipts, by their links and by the API: those that hang must not delay the other calls. */
  readonly receiptPermits: Semaphore.Semaphore
  /** Opens when the process has no more time for its stop: calls that are under way have no answer then. */
  readonly ending: Latch.Latch
  readonly batches: BatchSlots
  readonly uploads: UploadBackoff
  /** Calls without a taxpayer are limited by address. */
  readonly anonymous: RateLimitWindows
  readonly tokenLogins: TokenLoginSunset
  readonly failedLogins: FailedLogins
  readonly troubles: Troubles
  /** Receipts that cannot be read. The circuit breaker does not count them. */
  readonly receiptLog: ThrottledLog.ThrottledLog
  /** Why invoices wait while the circuit breaker is open. */
  readonly unavailable: () => Invoice.Reason
}

// Of 60 calls a second that an address may make.
const anonymousLimits = { anonymous: { perSecond: 20, perMinute: undefined, perHour: undefined } }

/** Makes the state of a process that has so many requests under way at once, over all taxpayers. */
export const makeProcess = (concurrency = 32, outage = new OutageReason()): LaneProcess => ({
  breaker: new CircuitBreaker(),
  outage,
  unavailable: () => ({
    code: "gateway_unavailable",
    message: `KSeF is unavailable; its calls are stopped for a while.${outage.sentence}`
  }),
  permits: Semaphore.makeUnsafe(concurrency),
  receiptPermits: Semaphore.makeUnsafe(Math.ceil(concurrency / 2)),
  ending: Latch.makeUnsafe(false),
  batches: new BatchSlots(),
  uploads: new UploadBackoff(),
  anonymous: new RateLimitWindows(anonymousLimits, { used: {}, blocked: {} }),
  tokenLogins: new TokenLoginSunset(),
  failedLogins: new RecentFailures(),
  troubles: new Troubles(),
  receiptLog: ThrottledLog.make({
    down: "Receipts cannot be read from KSeF; they are asked for again",
    recovered: "Receipts can be read from KSeF again",
    repeats: false
  })
})
