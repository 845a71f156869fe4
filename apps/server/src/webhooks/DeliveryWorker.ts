/**
 * Delivers webhooks: claims due deliveries, attempts them concurrently, and completes each.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Duration, Effect, FiberSet, Latch, Layer, Metric, Result, Semaphore } from "effect"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import type { KeyRing } from "../crypto/KeyRing.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import * as RetryingBatcher from "../jobs/RetryingBatcher.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import type { Completion } from "./Completion.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import * as WorkerLoop from "../jobs/WorkerLoop.ts"
import { DeliveryScheduler } from "./DeliveryScheduler.ts"
import { Notifier } from "../jobs/Notifier.ts"

const maxClaim = 250
const maxCompletionBatch = 500

// The cost of a claim depends more on the number of organizations than on how much it takes of each, so the statement
// after a claim waits this long for a larger batch.
const batchWindowMs = 4

// How long completions may take beyond the deadline of the last attempt.
const completeWithinMs = 4000

/**
 * Layer that runs the delivery worker. When it closes, it stops claiming and waits for the attempts in flight.
 *
 * **Details**
 *
 * A delivery takes a slot from its claim to the end of its attempt. Completions take no slot, so that attempts do not wait
 * for commits; as many completions may be uncommitted as there are slots.
 *
 * Completions are committed in the same statement as the next claim. If that fails, they are retried in the background.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  never,
  never,
  DeliveryQueue | DeliveryScheduler | Dispatcher | KeyRing | Settings | Notifier
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const scheduler = yield* DeliveryScheduler
    const notifier = yield* Notifier
    const attempt = yield* Attempt.make
    const { leaseMs, tenantConcurrency, webhooks, workerConcurrency } = yield* Settings
    const context = yield* Effect.context()

    const backgroundCompletions = yield* FiberSet.make<void>()
    const pendingCompletions: Array<Completion> = []
    let attempting = 0
    let uncommitted = 0
    const idle = yield* Latch.make(true)
    const signalIfIdle = () => void (attempting + uncommitted === 0 && idle.openUnsafe())

    const availableSlots = () => workerConcurrency - Math.max(attempting, attempting + uncommitted - workerConcurrency)

    // When the next retry or lease check is due, as far as this worker knows.
    let promoteAt = 0
    // Whether a claim may find something, and which organizations need a completion first.
    let mayHaveWork = false
    let atConcurrencyLimit: ReadonlySet<string> = new Set()
    // Whether nothing earlier became available since the last claim.
    let resume = false
    let stopping = false

    const isBatchReady = () =>
      (mayHaveWork ? availableSlots() : pendingCompletions.length) >= Math.min(maxClaim, workerConcurrency / 2)
    const batchReady = yield* Latch.make(false)
    let claimedAt = -batchWindowMs

    const onCompleted = Effect.fnUntraced(function* (
      completions: ReadonlyArray<Completion>,
      committed: ReadonlySet<string>
    ) {
      uncommitted -= completions.length
      signalIfIdle()
      for (const { event_id, id, next_retry_at, status } of completions) {
        if (next_retry_at !== null) promoteAt = Math.min(promoteAt, Date.parse(next_retry_at))
        if (committed.has(id)) {
          EngineMetrics.deliveriesCompleted(status).updateUnsafe(1, context)
        } else {
          EngineMetrics.staleCompletions("deliveries").updateUnsafe(1, context)
          yield* Effect.logWarning("Delivery lease lost; completion discarded").pipe(
            Effect.annotateLogs({ deliveryId: id, eventId: event_id })
          )
        }
      }
    })

    const unblocksOrganization = (completions: ReadonlyArray<Completion>) =>
      atConcurrencyLimit.size > 0 && completions.some(({ organization_id }) => atConcurrencyLimit.has(organization_id))

    const completeWithRetry = RetryingBatcher.retrying<Completion, boolean>({
      name: "completions",
      retryForMs: leaseMs,
      write: (completions) =>
        Effect.map(queue.complete(completions), (completed) => {
          const ids = new Set<string>(completed)
          return completions.map(({ id }) => ids.has(id))
        })
    })

    const completeAndNotify = Effect.fnUntraced(function* (completions: ReadonlyArray<Completion>) {
      const answers = yield* completeWithRetry(completions)
      const written = completions.filter((_, index) => answers[index] === true)
      yield* onCompleted(completions, new Set(written.map(({ id }) => id)))
      yield* unblocksOrganization(completions) ? notifier.wakeLocal("deliveries") : notifier.recheck("deliveries")
    })

    const completeInBackground = (completions: ReadonlyArray<Completion>) =>
      completions.length === 0
        ? Effect.void
        : Effect.asVoid(FiberSet.run(backgroundCompletions, completeAndNotify(completions)))

    const onAttemptDone = (completion: Completion | void) => {
      attempting -= 1
      EngineMetrics.inFlight.modifyUnsafe(-1, context)
      if (completion !== undefined) {
        uncommitted += 1
        pendingCompletions.push(completion)
      }
      signalIfIdle()
      if (isBatchReady()) batchReady.openUnsafe()
      return pendingCompletions.length <= 1 ? notifier.recheck("deliveries") : Effect.void
    }

    const deliver = (delivery: ClaimedDelivery) =>
      TraceContext.under(attempt(delivery), delivery.traceparent).pipe(
        // Also on interruption, as when the dispatcher has closed: the slot must be released.
        Effect.catchCause((cause) =>
          Effect.logError("Delivery attempt failed unexpectedly; will retry when the lease expires", cause).pipe(
            Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
          )
        ),
        Effect.flatMap(onAttemptDone)
      )

    // Yields first, so that the next statement is sent before the requests. Attempts are counted rather than kept in a
    // FiberSet: V8 keeps the entries of a set with much turnover alive until the next full collection.
    const deliverAll = (deliveries: ReadonlyArray<ClaimedDelivery>) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.forEach(deliveries, (delivery) => Effect.forkDetach(deliver(delivery), { startImmediately: true }), {
          discard: true
        })
      )

    const waitForBatch = Effect.suspend(() => {
      const pause = claimedAt + batchWindowMs - performance.now()
      if (pause <= 0 || isBatchReady()) return Effect.void
      batchReady.closeUnsafe()
      return Effect.asVoid(Effect.timeoutOption(batchReady.await, Duration.millis(pause)))
    })

    const promoteDue = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (now < promoteAt) return
      const promoted = yield* scheduler.promoteDue
      promoteAt = Math.min(promoted.next ?? Infinity, now + WorkerLoop.pollIntervalMs)
      mayHaveWork ||= promoted.anyDue
      resume = false
      yield* Metric.update(EngineMetrics.leasesExpired, promoted.leases)
    })

    const flushAndClaim = Effect.fnUntraced(function* (completions: ReadonlyArray<Completion>, limit: number) {
      if (limit === 0) {
        return { claimed: 0, completed: yield* queue.complete(completions) }
      }
      const claim = queue.claim({
        limit: Math.min(limit, maxClaim),
        // However many organizations have receivers that hang, a place is left for the next.
        perOrganization: Math.min(tenantConcurrency, limit),
        leaseMs,
        resume,
        completions
      })
      const {
        deliveries,
        atConcurrencyLimit: limited,
        more,
        completed
      } = yield* EngineMetrics.timed(EngineMetrics.claimDuration("deliveries"), claim)
      mayHaveWork = more
      resume = true
      atConcurrencyLimit = new Set(limited)
      if (deliveries.length > 0) {
        attempting += deliveries.length
        idle.closeUnsafe()
        EngineMetrics.inFlight.modifyUnsafe(deliveries.length, context)
        yield* Effect.forkDetach(deliverAll(deliveries))
      }
      return { claimed: deliveries.length, completed }
    })

    const iterate = Effect.fnUntraced(function* (woken: boolean) {
      mayHaveWork ||= woken
      if (!stopping) yield* Effect.onError(promoteDue, () => completeInBackground(pendingCompletions.splice(0)))
      if (pendingCompletions.length > 0 || (mayHaveWork && availableSlots() > 0)) yield* waitForBatch
      const completions = pendingCompletions.splice(0, maxCompletionBatch)
      // Only the first completion in an empty buffer wakes the worker.
      if (pendingCompletions.length > 0) yield* notifier.recheck("deliveries")
      mayHaveWork = !stopping && (mayHaveWork || unblocksOrganization(completions))
      const limit = mayHaveWork ? Math.max(0, availableSlots()) : 0
      if (completions.length === 0 && limit === 0) return { sleepUntil: promoteAt }

      const result = yield* flushAndClaim(completions, limit).pipe(
        Effect.catchDefect(Effect.fail),
        Effect.onError(() => completeInBackground(completions)),
        Effect.result
      )
      if (Result.isFailure(result)) {
        if (completions.length === 0) return yield* Effect.fail(result.failure)
        return limit > 0 ? "again" : { sleepUntil: promoteAt }
      }
      const { claimed, completed } = result.success
      if (claimed > 0) claimedAt = performance.now()
      yield* onCompleted(completions, new Set(completed))
      if (limit > 0 && mayHaveWork && claimed === 0) return "backoff"
      return mayHaveWork && availableSlots() > 0 ? "again" : { sleepUntil: promoteAt }
    })

    // Deliveries that are claimed when the worker stops are still attempted and completed.
    const iterating = yield* Semaphore.make(1)
    yield* WorkerLoop.run({ kind: "deliveries", iterate: (woken) => iterating.withPermit(iterate(woken)), notifier })

    yield* Effect.addFinalizer(() => {
      stopping = true
      const result = iterating.withPermit(Effect.void)
      return Effect.andThen(result, idle.await).pipe(
        Effect.timeoutOption(Duration.millis(webhooks.timeoutMs + completeWithinMs))
      )
    })
  })
)
