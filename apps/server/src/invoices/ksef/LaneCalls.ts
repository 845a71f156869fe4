/**
 * Makes the calls of a lane: within its windows, the concurrency limit of the process, and the circuit breaker. Every wait that
 * the national system asks for is kept here, and ends before the next call that it is about.
 */
import { type KsefClient, KsefError } from "@govoice/ksef/client"
import { Operation } from "@govoice/ksef/protocol"
import { Clock, Effect, Exit, Metric } from "effect"
import * as MonotonicTime from "../../observability/MonotonicTime.ts"
import * as LaneRules from "./LaneRules.ts"
import type { CircuitBreaker } from "./CircuitBreaker.ts"
import { CallFailed, classify, type Failure, type StorageCall, type WaitCode } from "./CallFailure.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import type { LaneProcess } from "./LaneProcess.ts"
import type { RateLimitWindows } from "./RateLimitWindows.ts"
import { PublicKeys } from "@govoice/ksef/crypto"

/** A longer wait is for the lane to sleep through. */
const maxWaitMs = 3000

/**
 * Makes one call, or fails with what the failure means. `store` stores the calls of a lane: it runs before the call where an
 * earlier one of its group is not stored.
 */
export type Call = <A, E = never>(
  operation: Operation.Operation,
  effect: Effect.Effect<A, KsefError>,
  store?: Effect.Effect<void, E>
) => Effect.Effect<A, CallFailed | E>

/**
 * The operations whose refusal as malformed fails an invoice, and says something about all lanes. A batch that is not closed is
 * given up, and its taxpayer alone waits for the next.
 */
const sending: ReadonlySet<Operation.Operation> = new Set(["openOnline", "send", "openBatch"])

/**
 * The operations that read receipts. Where they alone fail or hang, KSeF takes and judges invoices all the same: of many receipts that
 * are asked for one after another, the failures would have the sends of everybody wait.
 */
const receipts: ReadonlySet<Operation.Operation> = new Set(["invoiceUpo", "invoiceUpoByKsefNumber"])

/** The current time, by which the windows and the breaker go. They move with a clock that was stepped. */
export const currentTime = ({ anonymous, breaker }: LaneProcess, windows = anonymous): Effect.Effect<number> =>
  Clock.clockWith((clock) =>
    Effect.sync(() => {
      const now = clock.currentTimeMillisUnsafe()
      for (const each of new Set([breaker, anonymous, windows])) each.follow(now, MonotonicTime.of(clock))
      return now
    })
  )

/**
 * A lane, or the probe of the breaker, whose calls are made while it is open. `isStranger` tells whether the calls are logins with a
 * credential that KSeF has not accepted: anybody can store one, and what it is answered says nothing about the taxpayer or about KSeF.
 * `isLost` tells whether another process may have the lane: it makes no call then.
 */
export type Caller =
  | "probe"
  | {
      readonly context: string
      readonly windows: RateLimitWindows
      readonly isStranger?: boolean
      readonly isLost?: () => boolean
    }

// A stop waits for what is sent, for as long as the process has.
const stopped = (call: CallFailed["call"], { ending }: LaneProcess, wasMade: () => boolean) =>
  Effect.flatMap(
    ending.await,
    () =>
      new KsefError({
        call,
        outcome: wasMade() ? "unknown" : "unsent",
        reason: "timeout",
        message: "The process stopped before KSeF answered."
      })
  )

/**
 * Blocks a lane: for 15 minutes at first, for twice as long each time, up to 6 hours. A block that is not known to last is retried
 * a few times before. Returns until when.
 */
export const block = (
  breaker: CircuitBreaker,
  { context, windows }: { readonly context: string; readonly windows: RateLimitWindows },
  { isLasting }: Extract<Failure, { readonly _tag: "blocked" }>,
  { now, notBefore }: { readonly now: number; readonly notBefore: number }
): number => {
  const blocks = windows.laneBlocks + 1
  if (isLasting || blocks > LaneRules.unknownBlockWaits.length) breaker.blocked(context, now)
  const until = Math.max(now + LaneRules.blockWait(blocks, isLasting), notBefore)
  windows.block(until, "gateway_blocked")
  return until
}

/** Why a call was not made, as a sentence for the owner of an invoice. */
export const waitMessages: Readonly<Record<WaitCode, string>> = {
  gateway_blocked: "KSeF blocks the requests of this taxpayer.",
  gateway_limit: "KSeF's limits for this taxpayer are used up.",
  gateway_unavailable: "KSeF asked to wait."
}

const postponed = (call: CallFailed["call"], until: number, code: WaitCode, message = waitMessages[code]) =>
  new CallFailed({ call, until, failure: { _tag: "postponed", code, message } })

/** Makes the function that makes the calls of a lane. */
export const make =
  (process: LaneProcess, caller: Caller): Call =>
  <A, E = never>(
    operation: Operation.Operation,
    effect: Effect.Effect<A, KsefError>,
    store?: Effect.Effect<void, E>
  ) => {
    const { anonymous, breaker, unavailable } = process
    const permits = receipts.has(operation) ? process.receiptPermits : process.permits
    const { group } = Operation.operations[operation]
    const isProbe = caller === "probe"
    const laneWindows = isProbe ? anonymous : caller.windows
    const windows = group === "anonymous" ? anonymous : laneWindows
    const currentTimeMillis = currentTime(process, laneWindows)

    // The waits alone can be interrupted, unless the caller cannot be, so that every call that begins in the window ends in it.
    const beginInWindow = (interruptible: <B, F>(wait: Effect.Effect<B, F>) => Effect.Effect<B, F>) =>
      Effect.gen(function* (): Effect.fn.Return<void, CallFailed | E> {
        while (true) {
          const now = yield* currentTimeMillis
          if (breaker.isOpen && !isProbe) {
            return yield* postponed(operation, breaker.waitUntil(now), "gateway_unavailable", unavailable().message)
          }
          const at = windows.earliest(group, now)
          if (at > now) {
            if (at - now > maxWaitMs && at !== Infinity) {
              return yield* postponed(operation, at, windows.reason(group, now))
            }
            yield* interruptible(Effect.sleep(Math.min(at - now, 50)))
          } else if (store !== undefined && windows.hasUnstored(group)) {
            yield* interruptible(store)
          } else {
            // Without a pause between this check and the beginning, because the steps of a lane call beside each other.
            return windows.begin(group)
          }
        }
      })

    // Returns from when on the call may be made again.
    const onFailure = (failure: Failure, retryAfterMs: number | undefined, now: number): number => {
      const notBefore = now + (retryAfterMs ?? 0)
      if (!isProbe && caller.isStranger === true && failure._tag !== "rate-limited") return notBefore
      if (failure._tag === "blocked") {
        // Without a reason, the access token may be at fault: `authorized` tries another one first.
        if (!failure.isExplicit && Operation.operations[operation].bearer === "access") return notBefore
        const blocked = isProbe ? { context: "", windows: laneWindows } : caller
        return block(breaker, blocked, failure, { now, notBefore })
      }
      if (failure._tag !== "unavailable") breaker.succeeded(isProbe)
      else if (!receipts.has(operation)) breaker.failed(now, isProbe, notBefore)
      if (failure._tag === "code" && failure.action === "defect" && sending.has(operation)) breaker.defect(now)
      if (failure._tag === "rate-limited") windows.refuse(group, now, retryAfterMs)
      else if (retryAfterMs !== undefined) windows.pause(group, notBefore)
      const at = windows.earliest(group, now)
      return Math.max(at === Infinity ? now : at, breaker.waitUntil(now))
    }

    return Effect.uninterruptibleMask((interruptible) =>
      Effect.gen(function* () {
        yield* beginInWindow(interruptible)
        let wasMade = false
        const making = Effect.suspend(() => {
          if (!isProbe && caller.isLost?.() === true) return Effect.interrupt
          wasMade = true
          return effect
        })
        const inTime = Effect.raceFirst(
          permits.withPermits(1)(making),
          stopped(operation, process, () => wasMade)
        )
        const called = Effect.onExit(interruptible(inTime), (exit) =>
          Effect.map(currentTimeMillis, (now) => {
            const error = Exit.isFailure(exit)
              ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
              : undefined
            // One that was interrupted while it waited for a permit never left.
            windows.end(group, now, wasMade && error?.outcome !== "unsent", error?.reason === "rate-limited")
            if (Exit.isSuccess(exit)) {
              breaker.succeeded(isProbe)
              if (group !== "anonymous" && laneWindows.laneBlocks > 0) laneWindows.unblock()
            }
          })
        )
        return yield* called.pipe(
          Effect.tap(() => Metric.update(KsefMetrics.calls(operation, "ok"), 1)),
          Effect.catchTag("KsefError", (error) =>
            Effect.gen(function* () {
              const failure = classify(error)
              const until = onFailure(failure, error.retryAfterMs, yield* currentTimeMillis)
              yield* Metric.update(KsefMetrics.calls(operation, failure._tag), 1)
              if (failure._tag === "rate-limited") yield* Metric.update(KsefMetrics.limitHits, 1)
              return yield* new CallFailed({ call: operation, failure, until })
            })
          )
        )
      })
    )
  }

/**
 * Makes a call of the storage, at an address that KSeF handed out. It takes no place in the windows of the API, and says nothing
 * about the API: the circuit breaker does not count it. A wait that the storage asks for is kept with those of the lane.
 */
export const storageCall = <A>(
  process: LaneProcess,
  { windows }: { readonly windows: RateLimitWindows },
  call: StorageCall,
  effect: Effect.Effect<A, KsefError>
): Effect.Effect<A, CallFailed> =>
  Effect.gen(function* () {
    const pausedUntil = windows.pausedUntil(call)
    if (pausedUntil > (yield* Clock.currentTimeMillis)) {
      return yield* postponed(call, pausedUntil, "gateway_unavailable")
    }
    const permits = call === "downloadUpo" ? process.receiptPermits : process.permits
    return yield* Effect.raceFirst(
      permits.withPermits(1)(effect),
      stopped(call, process, () => true)
    ).pipe(
      Effect.tap(() => Metric.update(KsefMetrics.calls(call, "ok"), 1)),
      Effect.catchTag("KsefError", (error) =>
        Effect.gen(function* () {
          const failure = classify(error)
          const now = yield* Clock.currentTimeMillis
          yield* Metric.update(KsefMetrics.calls(call, failure._tag), 1)
          if (error.retryAfterMs !== undefined) windows.pause(call, now + error.retryAfterMs)
          return yield* new CallFailed({ call, failure, until: Math.max(now, windows.pausedUntil(call)) })
        })
      )
    )
  })

const maxAgeMs = 3_600_000

/** The public keys of the national system, read once an hour for all lanes of a process. */
export class PublicKeyCache {
  readonly #client: KsefClient.KsefClient
  #list: { readonly keys: ReadonlyArray<PublicKeys.Listed>; readonly readAt: number } | undefined

  constructor(client: KsefClient.KsefClient) {
    this.#client = client
  }

  /** Has the next use read the keys again. */
  invalidate(): void {
    this.#list = undefined
  }

  /** Returns the key for a usage. */
  get(usage: PublicKeys.Usage, call: Call): Effect.Effect<PublicKeys.PublicKey, CallFailed> {
    return Effect.gen({ self: this }, function* () {
      const now = yield* Clock.currentTimeMillis
      if (this.#list === undefined || now - this.#list.readAt > maxAgeMs) {
        this.#list = { keys: yield* call("publicKeys", this.#client.publicKeys), readAt: now }
      }
      const key = PublicKeys.select(this.#list.keys, usage, now)
      if (key !== undefined) return key
      this.invalidate()
      const message = "KSeF lists no public key that can be used."
      return yield* new CallFailed({
        call: "publicKeys",
        until: now,
        failure: { _tag: "unavailable", wasSent: false, message }
      })
    })
  }
}
