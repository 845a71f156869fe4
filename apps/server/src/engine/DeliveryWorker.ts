/**
 * Sends webhooks: claims deliveries that are due, attempts them side by side, and settles each.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Duration, Effect, FiberSet, Latch, Layer, Metric, Result, Semaphore } from "effect"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as Trace from "../observability/Trace.ts"
import type { KeyRing } from "../security/KeyRing.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import * as Batcher from "./Batcher.ts"
import { type ClaimedDelivery, DeliveryQueue, type Settlement } from "./DeliveryQueue.ts"
import * as Poller from "./Poller.ts"
import { Timers } from "./Timers.ts"
import { Wakeups } from "./Wakeups.ts"

const claimAtMost = 250
const settleAtMost = 500

// What a claim costs depends more on how many organizations it touches than on how much it takes of each. So the statement
// after one that brought something is this far behind it, unless enough has gathered.
const paceMs = 4

// What an attempt needs beyond its own deadline to be written down.
const settleWithinMs = 4000

/**
 * Layer that runs the delivery worker for as long as it lives. When it closes it claims nothing more, and lets what is
 * in flight end within its deadline.
 *
 * **Details**
 *
 * A delivery has one of the worker's places from its claim to the end of its attempt. Being written down takes none, so
 * that the next attempts do not wait for the disk; as many as there are places may wait to be written down.
 *
 * What has ended is written down by the statement that claims what comes next. Where the database does not take it, it is
 * written down apart, with patience, and claims go on.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, DeliveryQueue | Timers | Dispatcher | KeyRing | Settings | Wakeups> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const timers = yield* Timers
      const wakeups = yield* Wakeups
      const attempt = yield* Attempt.make
      const { leaseMs, tenantConcurrency, webhooks, workerConcurrency } = yield* Settings
      const context = yield* Effect.context()

      const apart = yield* FiberSet.make<void>()
      const ended: Array<Settlement> = []
      let attempting = 0
      let unwritten = 0
      const allDone = yield* Latch.make(true)
      const openIfDone = () => void (attempting + unwritten === 0 && allDone.openUnsafe())

      const free = () => workerConcurrency - Math.max(attempting, attempting + unwritten - workerConcurrency)

      // When a retry or a lease is due, as far as this worker knows.
      let elapseAt = 0
      // Whether there is something to claim, as far as it knows, and the organizations of which there is when they settle.
      let hungry = false
      let heldBack: ReadonlySet<string> = new Set()
      // Whether nothing became ready out of turn since the last claim.
      let resume = false
      let stopping = false

      const hasEnough = () => (hungry ? free() : ended.length) >= Math.min(claimAtMost, workerConcurrency / 2)
      const gathered = yield* Latch.make(false)
      let claimedAt = -paceMs

      const afterWriting = Effect.fnUntraced(function* (
        settlements: ReadonlyArray<Settlement>,
        written: ReadonlySet<string>
      ) {
        unwritten -= settlements.length
        openIfDone()
        for (const { event_id, id, next_retry_at, status } of settlements) {
          if (next_retry_at !== null) elapseAt = Math.min(elapseAt, Date.parse(next_retry_at))
          if (written.has(id)) {
            EngineMetrics.deliveriesSettled(status).updateUnsafe(1, context)
          } else {
            EngineMetrics.leasesLost("deliveries").updateUnsafe(1, context)
            yield* Effect.logWarning("A delivery was in other hands when it was settled").pipe(
              Effect.annotateLogs({ deliveryId: id, eventId: event_id })
            )
          }
        }
      })

      const freesOthers = (settlements: ReadonlyArray<Settlement>) =>
        heldBack.size > 0 && settlements.some(({ organization_id }) => heldBack.has(organization_id))

      const writePatiently = Batcher.patiently<Settlement, boolean>({
        name: "settlements",
        patienceMs: leaseMs,
        write: (settlements) =>
          Effect.map(queue.settle(settlements), (settled) => {
            const ids = new Set<string>(settled)
            return settlements.map(({ id }) => ids.has(id))
          })
      })

      const writeApart = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>) {
        const answers = yield* writePatiently(settlements)
        const written = settlements.filter((_, index) => answers[index] === true)
        yield* afterWriting(settlements, new Set(written.map(({ id }) => id)))
        yield* freesOthers(settlements) ? wakeups.wakeHere("deliveries") : wakeups.nudge("deliveries")
      })

      const setApart = (settlements: ReadonlyArray<Settlement>) =>
        settlements.length === 0 ? Effect.void : Effect.asVoid(FiberSet.run(apart, writeApart(settlements)))

      const leave = (settlement: Settlement | void) => {
        attempting -= 1
        EngineMetrics.inFlight.modifyUnsafe(-1, context)
        if (settlement !== undefined) {
          unwritten += 1
          ended.push(settlement)
        }
        openIfDone()
        if (hasEnough()) gathered.openUnsafe()
        return ended.length <= 1 ? wakeups.nudge("deliveries") : Effect.void
      }

      const deliver = (delivery: ClaimedDelivery) =>
        Trace.under(attempt(delivery), delivery.trace).pipe(
          // Also where the dispatcher is gone, which interrupts: whatever is counted in is counted out.
          Effect.catchCause((cause) =>
            Effect.logError("A delivery could not be attempted; its lease will bring it back", cause).pipe(
              Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
            )
          ),
          Effect.flatMap(leave)
        )

      // The next statement is on its way before these are sent, so that the database works meanwhile. Attempts are in no set:
      // they are counted, and the dispatcher ends each within its deadline. A set that is filled and emptied all the time
      // keeps what was in it alive until the next full collection.
      const deliverAll = (deliveries: ReadonlyArray<ClaimedDelivery>) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.forEach(deliveries, (delivery) => Effect.forkDetach(deliver(delivery), { startImmediately: true }), {
            discard: true
          })
        )

      const gather = Effect.suspend(() => {
        const pause = claimedAt + paceMs - performance.now()
        if (pause <= 0 || hasEnough()) return Effect.void
        gathered.closeUnsafe()
        return Effect.asVoid(Effect.timeoutOption(gathered.await, Duration.millis(pause)))
      })

      const look = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now < elapseAt) return
        const elapsed = yield* timers.elapse
        elapseAt = Math.min(elapsed.next ?? Infinity, now + Poller.sweepMs)
        hungry ||= elapsed.anyReady
        resume = false
        yield* Metric.update(EngineMetrics.leasesExpired, elapsed.leases)
      })

      const speak = Effect.fnUntraced(function* (settlements: ReadonlyArray<Settlement>, limit: number) {
        if (limit === 0) {
          return { claimed: 0, settled: yield* queue.settle(settlements) }
        }
        const claim = queue.claim({
          limit: Math.min(limit, claimAtMost),
          // However many organizations have receivers that hang, a place is left for the next.
          perOrganization: Math.min(tenantConcurrency, limit),
          leaseMs,
          resume,
          settlements
        })
        const {
          deliveries,
          heldBack: behind,
          more,
          settled
        } = yield* EngineMetrics.timed(EngineMetrics.claimSeconds("deliveries"), claim)
        hungry = more
        resume = true
        heldBack = new Set(behind)
        if (deliveries.length > 0) {
          attempting += deliveries.length
          allDone.closeUnsafe()
          EngineMetrics.inFlight.modifyUnsafe(deliveries.length, context)
          yield* Effect.forkDetach(deliverAll(deliveries))
        }
        return { claimed: deliveries.length, settled }
      })

      const round = Effect.fnUntraced(function* (woken: boolean) {
        hungry ||= woken
        if (!stopping) yield* Effect.onError(look, () => setApart(ended.splice(0)))
        if (ended.length > 0 || (hungry && free() > 0)) yield* gather
        const settlements = ended.splice(0, settleAtMost)
        // Who ends next says so only where it is the first.
        if (ended.length > 0) yield* wakeups.nudge("deliveries")
        hungry = !stopping && (hungry || freesOthers(settlements))
        const limit = hungry ? Math.max(0, free()) : 0
        if (settlements.length === 0 && limit === 0) return { restUntil: elapseAt }

        const spoken = yield* speak(settlements, limit).pipe(
          Effect.catchDefect(Effect.fail),
          Effect.onError(() => setApart(settlements)),
          Effect.result
        )
        if (Result.isFailure(spoken)) {
          if (settlements.length === 0) return yield* Effect.fail(spoken.failure)
          return limit > 0 ? "again" : { restUntil: elapseAt }
        }
        const { claimed, settled } = spoken.success
        if (claimed > 0) claimedAt = performance.now()
        yield* afterWriting(settlements, new Set(settled))
        if (limit > 0 && hungry && claimed === 0) return "soon"
        return hungry && free() > 0 ? "again" : { restUntil: elapseAt }
      })

      // What is claimed when the worker is stopped is still attempted, and what has ended is still written down.
      const speaking = yield* Semaphore.make(1)
      yield* Poller.run({ kind: "deliveries", round: (woken) => speaking.withPermit(round(woken)), wakeups })

      yield* Effect.addFinalizer(() => {
        stopping = true
        const spoken = speaking.withPermit(Effect.void)
        return Effect.andThen(spoken, allDone.await).pipe(
          Effect.timeoutOption(Duration.millis(webhooks.timeoutMs + settleWithinMs))
        )
      })
    })
  )
