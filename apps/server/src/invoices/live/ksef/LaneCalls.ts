/**
 * Makes the calls of a lane: within its windows, the concurrency limit of the process, and the circuit breaker.
 */
import type { KsefError } from "@govoice/ksef/client"
import { type LoginStatuses, Operation } from "@govoice/ksef/protocol"
import { Clock, Effect, Exit, Metric, Semaphore } from "effect"
import * as LaneRules from "../LaneRules.ts"
import { BatchSlots } from "./BatchSlots.ts"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import { CallFailed, classify, type Failure } from "./CallFailure.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import { OutageReason } from "./OutageReason.ts"
import { RecentFailures } from "./RecentFailures.ts"
import * as TokenLoginSunset from "./TokenLoginSunset.ts"
import { RateLimitWindows } from "./RateLimitWindows.ts"
import { UploadBackoff } from "./UploadBackoff.ts"

/** How the last login with a credential failed, and how often in the same way. */
interface FailedLogin {
  readonly credential: number
  readonly action: LoginStatuses.LoginAction
  readonly count: number
}

/** The failed logins of a process, by organization. */
export type FailedLogins = RecentFailures<FailedLogin>

/** The state that the lanes of a process share. */
export interface Process {
  readonly breaker: CircuitBreaker
  readonly outage: OutageReason
  /** Requests under way at once: calls of the API, uploads, and downloads of receipts by their links. */
  readonly permits: Semaphore.Semaphore
  /** Of the links of receipts, which are served by another host: one that hangs must not delay the calls of the API. */
  readonly linkPermits: Semaphore.Semaphore
  readonly batches: BatchSlots
  readonly uploads: UploadBackoff
  /** Calls without a taxpayer are limited by address. */
  readonly anonymous: RateLimitWindows
  readonly tokenLogins: TokenLoginSunset.TokenLoginSunset
  /** They outlive the lease: a lane is released while a login waits. */
  readonly failedLogins: FailedLogins
}

// Of 60 calls a second that an address may make.
const anonymousLimits = { anonymous: { perSecond: 20, perMinute: undefined, perHour: undefined } }

export const makeProcess = (concurrency: number): Process => ({
  breaker: new CircuitBreaker(),
  outage: new OutageReason(),
  permits: Semaphore.makeUnsafe(concurrency),
  linkPermits: Semaphore.makeUnsafe(Math.ceil(concurrency / 2)),
  batches: new BatchSlots(),
  uploads: new UploadBackoff(),
  anonymous: new RateLimitWindows(anonymousLimits, { used: {}, blocked: {} }),
  tokenLogins: new TokenLoginSunset.TokenLoginSunset(),
  failedLogins: new RecentFailures()
})

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

/** A lane, or the probe of the breaker, whose calls are made while it is open. */
export type Caller = "probe" | { readonly nip: string; readonly windows: RateLimitWindows }

/** Blocks a lane: for 15 minutes at first, for twice as long each time, up to 6 hours. */
export const block = (
  breaker: CircuitBreaker,
  { nip, windows }: { readonly nip: string; readonly windows: RateLimitWindows },
  now: number
): void => {
  breaker.blocked(nip, now)
  windows.block(now + LaneRules.blockWait(windows.laneBlocks + 1))
}

/** Makes the function that makes the calls of a lane. */
export const make =
  ({ anonymous, breaker, outage, permits }: Process, caller: Caller): Call =>
  <A, E = never>(
    operation: Operation.Operation,
    effect: Effect.Effect<A, KsefError>,
    store?: Effect.Effect<void, E>
  ) => {
    const { group } = Operation.operations[operation]
    const isProbe = caller === "probe"
    const laneWindows = isProbe ? anonymous : caller.windows
    const windows = group === "anonymous" ? anonymous : laneWindows

    // The waits alone can be interrupted, so that every call that begins in the window ends in it.
    const beginInWindow = (interruptible: <B, F>(wait: Effect.Effect<B, F>) => Effect.Effect<B, F>) =>
      Effect.gen(function* (): Effect.fn.Return<void, CallFailed | E> {
        while (true) {
          const now = yield* Clock.currentTimeMillis
          if (breaker.isOpen && !isProbe) {
            const message = `KSeF is unavailable; its calls are stopped for a while.${outage.sentence}`
            return yield* new CallFailed({ failure: { _tag: "postponed", until: breaker.waitUntil(now), message } })
          }
          const at = windows.earliest(group, now)
          if (at > now) {
            if (at - now > maxWaitMs && at !== Infinity) {
              const message = "The limits of KSeF leave no room for the call."
              return yield* new CallFailed({ failure: { _tag: "postponed", until: at, message } })
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

    const onFailure = (failure: Failure, now: number) => {
      if (failure._tag === "unavailable") return breaker.failed(now, isProbe)
      if (failure._tag === "blocked") {
        // Without a reason, the access token may be at fault: `authorized` tries another one first.
        if (!failure.isExplicit && Operation.operations[operation].bearer === "access") return
        if (isProbe) laneWindows.block(now + LaneRules.blockWait(laneWindows.laneBlocks + 1))
        else block(breaker, caller, now)
        return
      }
      breaker.succeeded(isProbe)
      if (failure._tag === "code" && failure.action === "defect" && sending.has(operation)) breaker.defect(now)
      if (failure._tag === "rate-limited") windows.refuse(group, now, failure.retryAfterMs)
    }

    return Effect.uninterruptibleMask((interruptible) =>
      Effect.gen(function* () {
        yield* beginInWindow(interruptible)
        let wasMade = false
        const making = Effect.suspend(() => {
          wasMade = true
          return effect
        })
        const called = Effect.onExit(interruptible(permits.withPermits(1)(making)), (exit) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const error = Exit.isFailure(exit)
              ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
              : undefined
            // One that was interrupted while it waited for a permit never left.
            windows.end(group, now, wasMade && error?.outcome !== "unsent")
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
              onFailure(failure, yield* Clock.currentTimeMillis)
              yield* Metric.update(KsefMetrics.calls(operation, failure._tag), 1)
              if (failure._tag === "rate-limited") yield* Metric.update(KsefMetrics.limitHits, 1)
              return yield* new CallFailed({ failure })
            })
          )
        )
      })
    )
  }
