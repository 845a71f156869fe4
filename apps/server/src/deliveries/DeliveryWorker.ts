/**
 * Delivers webhooks, round after round: promote what is due, write the completions of attempts that ended, claim for the slots that
 * are free, and attempt what was claimed.
 *
 * A delivery takes a slot from its claim to the end of its attempt. Completions take no slot, so that attempts do not wait for
 * commits, until more completions are unwritten than there are slots: each above that number takes one. Deliveries to slow endpoints take at most half of the slots.
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Duration, Effect, Latch, Layer, Metric, Semaphore } from "effect"
import type { KeyRing } from "../crypto/KeyRing.ts"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import { Notifier, pollIntervalMs } from "../jobs/Notifier.ts"
import * as ProcessFault from "../jobs/ProcessFault.ts"
import * as WorkerLoop from "../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import type { Completion } from "./Completion.ts"
import * as DeliveryCompleter from "./DeliveryCompleter.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { DeliveryScheduler } from "./DeliveryScheduler.ts"

/** The maximum number of deliveries that one statement claims. */
export const maxClaim = 250

// How long completions may take beyond the deadline of the last attempt.
const completeWithinMs = 4000

// How long the statements after a claim wait for a larger batch. Their cost depends more on the number of organizations than on
// how much they take of each.
const batchWindowMs = 4

// After an uncaught exception, a failed attempt may be the fault of this process, and its delivery may have caused the
// exception. It counts as an interruption instead, when its lease expires.
const isReliable = ({ status }: Completion): boolean => status === "succeeded" || !ProcessFault.hasOccurred()

/** Layer that runs the delivery worker. When it closes, it stops claiming and waits for the attempts in flight. */
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
    const { leaseMs, organizationConcurrency, webhooks, workerConcurrency } = yield* Settings
    const context = yield* Effect.context()
    yield* Metric.update(EngineMetrics.inFlightMax, workerConcurrency)

    const slowSlots = Math.max(1, Math.floor(workerConcurrency / 2))
    let attempting = 0
    let attemptingSlow = 0
    let mayHaveWork = true
    // Whether a completion makes room for something that the last claim left.
    let isLeft = false
    let isStopping = false
    let promoteAt = 0
    let claimedAt = -Infinity
    const batchReady = yield* Latch.make(false)
    const idle = yield* Latch.make(true)

    const completer: DeliveryCompleter.DeliveryCompleter = yield* DeliveryCompleter.make({
      queue,
      leaseMs,
      onCompleted: (batch) => {
        // Their retries may be due before the next promotion.
        for (const { next_retry_at: retryAt } of batch) {
          if (retryAt !== null) promoteAt = Math.min(promoteAt, Date.parse(retryAt))
        }
        if (isLeft) mayHaveWork = true
        if (attempting + completer.uncommitted() === 0) idle.openUnsafe()
      },
      onBackgroundCompleted: () => notifier.wake("deliveries")
    })

    // Attempts and unwritten completions together are at most twice the slots.
    const freeSlots = (): number =>
      workerConcurrency - Math.max(attempting, attempting + completer.uncommitted() - workerConcurrency)
    const wouldClaim = (): boolean => mayHaveWork && !isStopping && freeSlots() > 0
    const isBatchReady = (): boolean =>
      (mayHaveWork ? freeSlots() : completer.pending()) >= Math.min(maxClaim, workerConcurrency / 2)

    const promote = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (isStopping || now < promoteAt) return
      const { anyDue, next } = yield* scheduler.promoteDue
      mayHaveWork ||= anyDue
      promoteAt = Math.min(next ?? Infinity, now + pollIntervalMs)
    })

    // Waits until the next statements are large enough, or old enough.
    const waitForBatch = Effect.suspend(() => {
      const pause = claimedAt + batchWindowMs - performance.now()
      if ((completer.pending() === 0 && !wouldClaim()) || pause <= 0 || isBatchReady()) return Effect.void
      batchReady.closeUnsafe()
      return Effect.asVoid(Effect.timeoutOption(batchReady.await, Duration.millis(pause)))
    })

    // A batch that could not be written is retried in the background.
    const complete = Effect.gen(function* () {
      const batch = completer.take()
      if (batch.length === 0) return
      if (completer.pending() > 0) yield* notifier.recheck("deliveries")
      yield* completer.flush(batch)
      if (isStopping) yield* notifier.wake("deliveries")
    })

    const onAttemptDone = (delivery: ClaimedDelivery, completion: Completion | void) => {
      EngineMetrics.inFlight.modifyUnsafe(-1, context)
      attempting -= 1
      if (delivery.endpoint_slow) attemptingSlow -= 1
      if (completion !== undefined && isReliable(completion)) completer.add(completion)
      if (isBatchReady()) batchReady.openUnsafe()
      if (attempting + completer.uncommitted() === 0) idle.openUnsafe()
      // Only the first completion in an empty buffer wakes the worker.
      return completer.pending() <= 1 ? notifier.recheck("deliveries") : Effect.void
    }

    const deliver = (delivery: ClaimedDelivery, leasedUntil: number) =>
      TraceContext.under(attempt(delivery, leasedUntil), delivery.traceparent).pipe(
        // Also on interruption, as when the dispatcher has closed: the slot must be released.
        Effect.catchCause((cause) =>
          Effect.logError("Delivery attempt failed unexpectedly; will retry when the lease expires", cause).pipe(
            Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
          )
        ),
        Effect.flatMap((completion) => onAttemptDone(delivery, completion))
      )

    // Yields first, so that the next statement is sent before the requests. Attempts are counted rather than kept in a
    // FiberSet: V8 keeps the entries of a set with much turnover alive until the next full collection.
    const attemptAll = (deliveries: ReadonlyArray<ClaimedDelivery>, leasedUntil: number) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.forEach(
          deliveries,
          (delivery) => Effect.forkDetach(deliver(delivery, leasedUntil), { startImmediately: true }),
          { discard: true }
        )
      )

    const claim = Effect.gen(function* () {
      const statement = queue.claim({
        limit: Math.min(maxClaim, freeSlots()),
        slow: slowSlots - attemptingSlow,
        perOrganization: organizationConcurrency,
        leaseMs
      })
      const { claim, leasedUntil } = yield* LeaseTime.claimed(
        EngineMetrics.timed(EngineMetrics.claimDuration("deliveries"), statement),
        leaseMs
      )
      const { deliveries, left, more } = claim
      mayHaveWork = more
      isLeft = left
      if (deliveries.length === 0) return
      claimedAt = performance.now()
      attempting += deliveries.length
      attemptingSlow += deliveries.filter((one) => one.endpoint_slow).length
      idle.closeUnsafe()
      EngineMetrics.inFlight.modifyUnsafe(deliveries.length, context)
      yield* Effect.forkDetach(attemptAll(deliveries, leasedUntil))
    })

    const iterate = Effect.fnUntraced(function* (woken: boolean) {
      if (woken) mayHaveWork = true
      // A round that fails here would leave the completions in the buffer until the next one.
      yield* Effect.onError(promote, () => completer.completeInBackground(completer.take()))
      yield* waitForBatch
      yield* complete
      if (!wouldClaim()) return { sleepUntil: isStopping ? Infinity : promoteAt }
      const before = attempting
      yield* claim
      if (attempting === before && mayHaveWork) return "backoff"
      return wouldClaim() ? "again" : { sleepUntil: promoteAt }
    })

    // Deliveries that are claimed when the worker stops are still attempted and completed.
    const iterating = yield* Semaphore.make(1)
    yield* WorkerLoop.run({ kind: "deliveries", iterate: (woken) => iterating.withPermit(iterate(woken)), notifier })

    yield* Effect.addFinalizer(() => {
      isStopping = true
      const result = iterating.withPermit(Effect.void)
      return Effect.andThen(result, idle.await).pipe(
        Effect.timeoutOption(Duration.millis(webhooks.timeoutMs + completeWithinMs))
      )
    })
  })
)
