/**
 * Delivers webhooks: wires the fetcher, which claims deliveries, the attempts, and the completer, which writes their
 * results. Completions are written by the same statement as the next claim.
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Duration, Effect, Latch, Layer, Metric, Result, Semaphore } from "effect"
import type { KeyRing } from "../crypto/KeyRing.ts"
import { Notifier } from "../jobs/Notifier.ts"
import * as ProcessFault from "../jobs/ProcessFault.ts"
import * as WorkerLoop from "../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import type { Completion } from "./Completion.ts"
import * as DeliveryCompleter from "./DeliveryCompleter.ts"
import * as DeliveryFetcher from "./DeliveryFetcher.ts"
import * as FetcherState from "./FetcherState.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { DeliveryScheduler } from "./DeliveryScheduler.ts"

// How long completions may take beyond the deadline of the last attempt.
const completeWithinMs = 4000

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
    const notifier = yield* Notifier
    const attempt = yield* Attempt.make
    const { leaseMs, organizationConcurrency, webhooks, workerConcurrency } = yield* Settings
    const context = yield* Effect.context()
    const initial = FetcherState.initial(workerConcurrency, organizationConcurrency)
    yield* Metric.update(EngineMetrics.inFlightMax, workerConcurrency - FetcherState.reservedSlots(initial))

    const completer: DeliveryCompleter.DeliveryCompleter = yield* DeliveryCompleter.make({
      queue,
      leaseMs,
      onCompleted: (batch) => {
        fetcher.onCompleted(batch)
        signalIfIdle()
      },
      onBackgroundCompleted: (batch) => {
        const foreign = fetcher.foreignFreed(batch)
        const wakeOwners = foreign.length > 0 ? notifier.wake("deliveries", foreign) : Effect.void
        const isForThisWorker = fetcher.unblocksOrganization(batch)
        return Effect.andThen(
          wakeOwners,
          isForThisWorker ? notifier.wakeLocal("deliveries") : notifier.recheck("deliveries")
        )
      }
    })
    const fetcher = yield* DeliveryFetcher.make({
      queue,
      scheduler: yield* DeliveryScheduler,
      concurrency: workerConcurrency,
      organizationConcurrency,
      leaseMs,
      pollIntervalMs: notifier.pollIntervalMs,
      ownPartitions: notifier.ownPartitions,
      backlog: () => ({ pending: completer.pending(), uncommitted: completer.uncommitted() })
    })

    const idle = yield* Latch.make(true)
    const signalIfIdle = () => void (fetcher.attempting() + completer.uncommitted() === 0 && idle.openUnsafe())

    const onAttemptDone = (completion: Completion | void) => {
      EngineMetrics.inFlight.modifyUnsafe(-1, context)
      if (completion !== undefined && isReliable(completion)) completer.add(completion)
      fetcher.onAttemptEnded()
      signalIfIdle()
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
        Effect.flatMap(onAttemptDone)
      )

    // Yields first, so that the next statement is sent before the requests. Attempts are counted rather than kept in a
    // FiberSet: V8 keeps the entries of a set with much turnover alive until the next full collection.
    const deliverAll = ({ deliveries, leasedUntil }: DeliveryFetcher.LeasedClaim) =>
      Effect.andThen(
        Effect.yieldNow,
        Effect.forEach(
          deliveries,
          (delivery) => Effect.forkDetach(deliver(delivery, leasedUntil), { startImmediately: true }),
          { discard: true }
        )
      )

    const flushAndClaim = Effect.fnUntraced(function* (completions: ReadonlyArray<Completion>, limit: number) {
      if (limit === 0) return { claimed: 0, completed: yield* completer.flush(completions) }
      const claim = yield* fetcher.claim(limit, completions)
      const { completed, deliveries } = claim
      if (deliveries.length > 0) {
        idle.closeUnsafe()
        EngineMetrics.inFlight.modifyUnsafe(deliveries.length, context)
        yield* Effect.forkDetach(deliverAll(claim))
      }
      return { claimed: deliveries.length, completed }
    })

    // A worker whose statements fail leaves its partitions to the others.
    let isFailing = false
    const writeInBackground = (completions: ReadonlyArray<Completion>) =>
      Effect.suspend(() => {
        isFailing = true
        return completer.completeInBackground(completions)
      })

    const iterate = Effect.fnUntraced(function* (woken: boolean) {
      if (woken) fetcher.wake()
      const hasPromoted = yield* Effect.onError(fetcher.promoteDue, () => writeInBackground(completer.take()))
      yield* fetcher.waitForBatch
      const completions = completer.take()
      if (completer.pending() > 0) yield* notifier.recheck("deliveries")
      const limit = fetcher.plan(completions)
      if (completions.length === 0 && limit === 0) {
        if (hasPromoted) isFailing = false
        return { sleepUntil: fetcher.sleepUntil() }
      }

      const result = yield* flushAndClaim(completions, limit).pipe(
        Effect.catchDefect(Effect.fail),
        Effect.onError(() => writeInBackground(completions)),
        Effect.result
      )
      if (Result.isFailure(result)) {
        if (completions.length === 0) return yield* Effect.fail(result.failure)
        return limit > 0 ? "again" : { sleepUntil: fetcher.sleepUntil() }
      }
      isFailing = false
      const { claimed, completed } = result.success
      yield* completer.onWritten(completions, completed)
      const foreign = fetcher.foreignFreed(completions)
      if (foreign.length > 0) yield* notifier.wake("deliveries", foreign)
      return fetcher.nextIteration(limit, claimed)
    })

    // Deliveries that are claimed when the worker stops are still attempted and completed.
    const iterating = yield* Semaphore.make(1)
    yield* WorkerLoop.run({ kind: "deliveries", iterate: (woken) => iterating.withPermit(iterate(woken)), notifier })

    yield* Effect.addFinalizer(() => {
      fetcher.stop()
      const result = iterating.withPermit(Effect.void)
      return Effect.andThen(result, idle.await).pipe(
        Effect.timeoutOption(Duration.millis(webhooks.timeoutMs + completeWithinMs))
      )
    })
    yield* notifier.join(() => !isFailing && fetcher.canClaim())
    // Before the worker leaves, so that it does not claim meanwhile.
    yield* Effect.addFinalizer(() => Effect.sync(fetcher.stop))
  })
)
