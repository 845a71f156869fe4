/**
 * Delivers webhooks, round after round: promote what is due, write the completions of attempts that ended, claim for the slots that
 * are free, and attempt what was claimed.
 *
 * A delivery takes a slot from its claim to the end of its attempt. Completions take no slot, so that attempts do not wait for
 * commits, until more completions are unwritten than there are slots: each above that number takes one. Deliveries to slow
 * endpoints take at most half of the slots.
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, type Context, Duration, Effect, Latch, Layer, Metric, Semaphore } from "effect"
import type { KeyRing } from "../crypto/KeyRing.ts"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import { Notifier, pollIntervalMs } from "../jobs/Notifier.ts"
import * as ProcessFault from "../jobs/ProcessFault.ts"
import * as WorkerLoop from "../jobs/WorkerLoop.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { Settings, type SettingsShape } from "../settings/Settings.ts"
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

/** What a worker has in flight, and what it knows of the queue. */
class WorkerState {
  /** Attempts in flight, and how many of them are to slow endpoints. */
  attempting = 0
  attemptingSlow = 0
  /** Whether a claim may find something. */
  mayHaveWork = true
  /** Whether the last claim left something that a completion makes room for. */
  isLeft = false
  isStopping = false
  /** When deliveries are promoted next, in milliseconds since the epoch. */
  promoteAt = 0
  /** When the last claim with a result ended, in monotonic milliseconds. */
  claimedAt = -Infinity
}

/** What the steps of a round share. */
interface Worker {
  readonly state: WorkerState
  readonly settings: SettingsShape
  readonly queue: DeliveryQueue["Service"]
  readonly scheduler: DeliveryScheduler["Service"]
  readonly notifier: Notifier["Service"]
  readonly completer: DeliveryCompleter.DeliveryCompleter
  readonly attempt: Effect.Success<typeof Attempt.make>
  /** Opens when the next statements are large enough. */
  readonly batchReady: Latch.Latch
  /** Open while nothing is in flight or unwritten. */
  readonly idle: Latch.Latch
  readonly context: Context.Context<never>
}

/** Keeps 1 of 64 slots for organizations with few deliveries in flight. */
const slotsForOneInReserve = 64

// Attempts and unwritten completions together are at most twice the slots.
const freeSlots = ({ completer, settings, state }: Worker): number =>
  settings.workerConcurrency -
  Math.max(state.attempting, state.attempting + completer.uncommitted() - settings.workerConcurrency)

const freeSlowSlots = ({ settings, state }: Worker): number =>
  Math.max(1, Math.floor(settings.workerConcurrency / 2)) - state.attemptingSlow

const wouldClaim = (worker: Worker): boolean =>
  worker.state.mayHaveWork && !worker.state.isStopping && freeSlots(worker) > 0

const isBatchReady = (worker: Worker): boolean =>
  (worker.state.mayHaveWork ? freeSlots(worker) : worker.completer.pending()) >=
  Math.min(maxClaim, worker.settings.workerConcurrency / 2)

const openIfIdle = ({ completer, idle, state }: Worker): void => {
  if (state.attempting + completer.uncommitted() === 0) idle.openUnsafe()
}

const iterate = Effect.fnUntraced(function* (worker: Worker, woken: boolean) {
  const { completer, state } = worker
  if (woken) state.mayHaveWork = true
  // A round that fails here would leave the completions in the buffer until the next one.
  yield* Effect.onError(promote(worker), () => completer.completeInBackground(completer.take()))
  yield* waitForBatch(worker)
  yield* complete(worker)
  if (!wouldClaim(worker)) return { sleepUntil: state.isStopping ? Infinity : state.promoteAt }
  const before = state.attempting
  yield* claim(worker)
  if (state.attempting === before && state.mayHaveWork) return "backoff"
  return wouldClaim(worker) ? "again" : { sleepUntil: state.promoteAt }
})

const promote = Effect.fnUntraced(function* ({ scheduler, state }: Worker) {
  const now = yield* Clock.currentTimeMillis
  // A wait longer than the poll interval means that the clock was set back.
  if (state.isStopping || (now < state.promoteAt && state.promoteAt - now <= pollIntervalMs)) return
  const { anyDue, next } = yield* scheduler.promoteDue
  state.mayHaveWork ||= anyDue
  state.promoteAt = Math.min(next ?? Infinity, now + pollIntervalMs)
})

// Waits until the next statements are large enough, or old enough.
const waitForBatch = (worker: Worker): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { batchReady, completer, state } = worker
    const pause = state.claimedAt + batchWindowMs - performance.now()
    if ((completer.pending() === 0 && !wouldClaim(worker)) || pause <= 0 || isBatchReady(worker)) return Effect.void
    batchReady.closeUnsafe()
    return Effect.asVoid(Effect.timeoutOption(batchReady.await, Duration.millis(pause)))
  })

// A batch that could not be written is retried in the background.
const complete = Effect.fnUntraced(function* ({ completer, notifier, state }: Worker) {
  const batch = completer.take()
  if (batch.length === 0) return
  if (completer.pending() > 0) yield* notifier.recheck("deliveries")
  yield* completer.flush(batch)
  // This worker does not claim any more: what became free is for others.
  if (state.isStopping) yield* notifier.wake("deliveries")
})

const onCompleted = (worker: Worker, batch: ReadonlyArray<Completion>): void => {
  const { state } = worker
  // Their retries may be due before the next promotion.
  for (const { next_retry_at: retryAt } of batch) {
    if (retryAt !== null) state.promoteAt = Math.min(state.promoteAt, Date.parse(retryAt))
  }
  if (state.isLeft) state.mayHaveWork = true
  openIfIdle(worker)
}

const claim = Effect.fnUntraced(function* (worker: Worker) {
  const { context, idle, queue, settings, state } = worker
  const statement = queue.claim({
    limit: Math.min(maxClaim, freeSlots(worker)),
    free: freeSlots(worker),
    reserve: Math.floor(settings.workerConcurrency / slotsForOneInReserve),
    slow: freeSlowSlots(worker),
    perOrganization: settings.organizationConcurrency,
    leaseMs: settings.leaseMs
  })
  const { claim: claimed, leasedUntil } = yield* LeaseTime.claimed(
    EngineMetrics.timed(EngineMetrics.claimDuration("deliveries"), statement),
    settings.leaseMs
  )
  const { deliveries, left, more } = claimed
  state.mayHaveWork = more
  state.isLeft = left
  if (deliveries.length === 0) return
  state.claimedAt = performance.now()
  state.attempting += deliveries.length
  state.attemptingSlow += deliveries.filter((one) => one.endpoint_slow).length
  idle.closeUnsafe()
  EngineMetrics.inFlight.modifyUnsafe(deliveries.length, context)
  yield* Effect.forkDetach(attemptAll(worker, deliveries, leasedUntil))
})

// Yields first, so that the next statement is sent before the requests. Attempts are counted rather than kept in a
// FiberSet: V8 keeps the entries of a set with much turnover alive until the next full collection.
const attemptAll = (worker: Worker, deliveries: ReadonlyArray<ClaimedDelivery>, leasedUntil: number) =>
  Effect.andThen(
    Effect.yieldNow,
    Effect.forEach(
      deliveries,
      (delivery) => Effect.forkDetach(deliver(worker, delivery, leasedUntil), { startImmediately: true }),
      { discard: true }
    )
  )

const deliver = (worker: Worker, delivery: ClaimedDelivery, leasedUntil: number) =>
  TraceContext.under(worker.attempt(delivery, leasedUntil), delivery.traceparent).pipe(
    // Also on interruption, as when the dispatcher has closed: the slot must be released.
    Effect.catchCause((cause) =>
      Effect.logError("Delivery attempt failed unexpectedly; counts as interrupted when the lease expires", cause).pipe(
        Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
      )
    ),
    Effect.flatMap((completion) => onAttemptDone(worker, delivery, completion))
  )

const onAttemptDone = (worker: Worker, delivery: ClaimedDelivery, completion: Completion | void) => {
  const { batchReady, completer, context, notifier, state } = worker
  EngineMetrics.inFlight.modifyUnsafe(-1, context)
  state.attempting -= 1
  if (delivery.endpoint_slow) state.attemptingSlow -= 1
  if (completion !== undefined && isReliable(completion)) completer.add(completion)
  if (isBatchReady(worker)) batchReady.openUnsafe()
  openIfIdle(worker)
  // Only the first completion in an empty buffer wakes the worker.
  return completer.pending() <= 1 ? notifier.recheck("deliveries") : Effect.void
}

/** Layer that runs the delivery worker. When it closes, it stops claiming and waits for the attempts in flight. */
export const layer: Layer.Layer<
  never,
  never,
  DeliveryQueue | DeliveryScheduler | Dispatcher | KeyRing | Settings | Notifier
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* DeliveryQueue
    const notifier = yield* Notifier
    const settings = yield* Settings
    const completer = yield* DeliveryCompleter.make({
      queue,
      leaseMs: settings.leaseMs,
      onCompleted: (batch) => onCompleted(worker, batch),
      onBackgroundCompleted: () => notifier.wake("deliveries")
    })
    const worker: Worker = {
      state: new WorkerState(),
      settings,
      queue,
      scheduler: yield* DeliveryScheduler,
      notifier,
      completer,
      attempt: yield* Attempt.make,
      batchReady: yield* Latch.make(false),
      idle: yield* Latch.make(true),
      context: yield* Effect.context()
    }
    yield* Metric.update(EngineMetrics.inFlightMax, settings.workerConcurrency)

    // Deliveries that are claimed when the worker stops are still attempted and completed.
    const iterating = yield* Semaphore.make(1)
    yield* WorkerLoop.run({
      kind: "deliveries",
      iterate: (woken) => iterating.withPermit(iterate(worker, woken)),
      notifier
    })

    yield* Effect.addFinalizer(() => {
      worker.state.isStopping = true
      const roundInProgress = iterating.withPermit(Effect.void)
      return Effect.andThen(roundInProgress, worker.idle.await).pipe(
        Effect.timeoutOption(Duration.millis(settings.webhooks.timeoutMs + completeWithinMs))
      )
    })
  })
)
