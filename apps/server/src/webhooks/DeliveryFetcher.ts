/**
 * Decides when to claim, and claims: the first stage of a worker. The decisions are in `FetcherState`.
 *
 * Each statement is delayed until half of the slots are free, or until a few milliseconds have passed since the last claim.
 */
import { Clock, Duration, Effect, Latch, Metric } from "effect"
import type { SqlError } from "effect/sql"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import type { Iteration } from "../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import type { Completion } from "./Completion.ts"
import type { DeliveryClaim, DeliveryQueue } from "./DeliveryQueue.ts"
import type { DeliveryScheduler } from "./DeliveryScheduler.ts"
import * as FetcherState from "./FetcherState.ts"

/** Claimed deliveries, and the monotonic time until which their leases last at least, in milliseconds. */
export interface LeasedClaim extends DeliveryClaim {
  readonly leasedUntil: number
}

/** Fetches deliveries. */
export interface DeliveryFetcher {
  /** The number of claimed deliveries whose attempt has not ended. */
  readonly attempting: () => number
  /** The worker was woken. */
  readonly wake: () => void
  /** Promotes, if a retry or a lease check is due. Returns whether it did. */
  readonly promoteDue: Effect.Effect<boolean, SqlError.SqlError>
  /** Waits until the next statement is large enough, or old enough. */
  readonly waitForBatch: Effect.Effect<void>
  /** Returns how many slots the statement may fill that writes these completions. */
  readonly plan: (completions: ReadonlyArray<Completion>) => number
  /** Claims, and writes completions in the same statement. */
  readonly claim: (
    limit: number,
    completions: ReadonlyArray<Completion>
  ) => Effect.Effect<LeasedClaim, SqlError.SqlError>
  /** An attempt has ended, and its completion is in the buffer. */
  readonly onAttemptEnded: () => void
  /** Completions were written. */
  readonly onCompleted: (completions: ReadonlyArray<Completion>) => void
  readonly unblocksOrganization: (completions: ReadonlyArray<Completion>) => boolean
  /** Returns the organizations of these completions whose slots only the claims of another worker fill. */
  readonly foreignFreed: (completions: ReadonlyArray<Completion>) => ReadonlyArray<string>
  /** Returns whether the worker can claim for every organization, or could until a second ago. */
  readonly canClaim: () => boolean
  /** Returns what the worker does after a statement with this limit has claimed as many. */
  readonly nextIteration: (limit: number, claimed: number) => Iteration
  /** When the next promotion is due, in milliseconds since the epoch. */
  readonly sleepUntil: () => number
  /** Claims nothing more from now on. */
  readonly stop: () => void
}

/** The options of a fetcher. */
export interface FetcherOptions {
  readonly queue: Pick<DeliveryQueue["Service"], "claim">
  readonly scheduler: DeliveryScheduler["Service"]
  readonly concurrency: number
  readonly organizationConcurrency: number
  readonly leaseMs: number
  /** How long the worker sleeps at most, in milliseconds. */
  readonly pollIntervalMs: () => number
  /** The partitions that this worker owns; `undefined` if it owns all. */
  readonly ownPartitions: () => FetcherState.OwnPartitions
  /** The completions that are not written yet. */
  readonly backlog: () => FetcherState.Backlog
  /** Monotonic time in milliseconds. */
  readonly monotonicMs?: () => number
}

/**
 * How long the statement after a claim waits for a larger batch, in milliseconds. The cost of a claim depends more on the
 * number of organizations than on how much it takes of each.
 */
export const batchWindowMs = 4

// While anything is due, how often the worker promotes and claims from all partitions.
const claimEveryMs = 1000

// In a backlog, the general slots of a worker are all taken most of the time.
const stuckAfterMs = 1000

/** Makes a fetcher. */
export const make = (options: FetcherOptions): Effect.Effect<DeliveryFetcher> =>
  Effect.gen(function* () {
    const { backlog, leaseMs, ownPartitions, queue, scheduler, organizationConcurrency } = options
    const monotonicMs = options.monotonicMs ?? (() => performance.now())
    let state = FetcherState.initial(options.concurrency, organizationConcurrency)
    let claimedAt = -Infinity
    let generalClaimedAt = -Infinity
    const batchReady = yield* Latch.make(false)

    const isBatchReady = () => FetcherState.isBatchReady(state, backlog())

    return {
      attempting: () => state.attempting,
      wake: () => void (state = FetcherState.woken(state)),

      promoteDue: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (state.stopping || now < state.promoteAt) return false
        const promoted = yield* scheduler.promoteDue
        state = FetcherState.promoted(state, promoted, now, promoted.anyDue ? claimEveryMs : options.pollIntervalMs())
        yield* Metric.update(EngineMetrics.leasesExpired, promoted.leases)
        return true
      }),

      waitForBatch: Effect.suspend(() => {
        const pause = claimedAt + batchWindowMs - monotonicMs()
        const isNeeded = backlog().pending > 0 || FetcherState.wouldClaim(state, backlog())
        if (!isNeeded || pause <= 0 || isBatchReady()) return Effect.void
        batchReady.closeUnsafe()
        return Effect.asVoid(Effect.timeoutOption(batchReady.await, Duration.millis(pause)))
      }),

      plan: (completions) => {
        const plan = FetcherState.planned(state, completions, backlog())
        state = plan.state
        return plan.limit
      },

      claim: Effect.fnUntraced(function* (limit, completions) {
        const own = ownPartitions()
        const size = FetcherState.claimSize(state, limit, monotonicMs())
        const statement = queue.claim({
          ...size,
          // However many organizations have receivers that hang, a slot is left for the next.
          perOrganization: Math.min(organizationConcurrency, limit),
          leaseMs,
          resume: state.resume,
          completions,
          partitions: state.claimsEverywhere ? undefined : own
        })
        const { claim, leasedUntil } = yield* LeaseTime.claimed(
          EngineMetrics.timed(EngineMetrics.claimDuration("deliveries"), statement),
          leaseMs
        )
        state = FetcherState.claimed(state, claim, own, size, monotonicMs())
        if (claim.deliveries.length > 0) {
          claimedAt = monotonicMs()
          if (size.general > 0) generalClaimedAt = claimedAt
        }
        return { ...claim, leasedUntil }
      }),

      onAttemptEnded: () => {
        state = FetcherState.attemptEnded(state)
        if (isBatchReady()) batchReady.openUnsafe()
      },
      onCompleted: (completions) => void (state = FetcherState.completed(state, completions)),
      unblocksOrganization: (completions) => FetcherState.unblocksOrganization(state, completions),
      foreignFreed: (completions) => FetcherState.foreignFreed(state, completions, ownPartitions()),
      canClaim: () =>
        FetcherState.generalSlots(state, backlog()) > 0 || monotonicMs() - generalClaimedAt < stuckAfterMs,
      nextIteration: (limit, claimed) => FetcherState.nextIteration(state, { limit, claimed, backlog: backlog() }),
      sleepUntil: () => FetcherState.sleepUntil(state),
      stop: () => void (state = FetcherState.stopped(state))
    }
  })
