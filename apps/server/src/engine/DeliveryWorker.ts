/**
 * Sends webhooks: claims deliveries that are due, attempts them side by side, and settles each.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Duration, Effect, FiberSet, Latch, Layer, Metric, Semaphore } from "effect"
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

const claimAtMost = 200

// What a claim costs depends more on how many organizations it touches than on how much it takes of each. So claims that
// bring something are this far apart, unless the one before brought enough and the next may.
const paceMs = 4
const enough = 100

// What an attempt needs beyond its own deadline to be written down.
const settleWithinMs = 4000

interface Ended {
  readonly eventId: Ids.EventId
  readonly settlement: Settlement
}

/**
 * Layer that runs the delivery worker for as long as it lives. When it closes it claims nothing more, and lets what is
 * in flight end within its deadline.
 *
 * **Details**
 *
 * A delivery has one of the worker's places from its claim to the end of its attempt. Being written down takes none, so
 * that the next attempts do not wait for the disk; as many as there are places may wait to be written down.
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

      // Settlements lock the lanes that claims would then pass over. The other way round they wait for each other, and the
      // database goes on with the one at once when the other is done.
      const settling = yield* Semaphore.make(1)

      const attempts = yield* FiberSet.make<void>()
      let attempting = 0
      let unwritten = 0
      const allWritten = yield* Latch.make(true)

      const free = () => workerConcurrency - Math.max(attempting, attempting + unwritten - workerConcurrency)

      // When a retry or a lease is due, as far as this worker knows; when it claimed something last, and how much.
      let elapseAt = 0
      let claimedAt = -paceMs
      let claimedLast = 0

      // Whose places are waited for: this worker's own when it is full, else those of organizations that are held back.
      // What is settled during a claim may be what the claim misses.
      let full = false
      let heldBack: ReadonlySet<string> = new Set()
      let settledMeanwhile: Set<string> | undefined

      const afterWriting = Effect.fnUntraced(function* (
        ended: ReadonlyArray<Ended>,
        answers: ReadonlyArray<boolean> | undefined
      ) {
        unwritten -= ended.length
        if (unwritten === 0) allWritten.openUnsafe()
        let retryAt = Infinity
        let awaited = full
        for (const [index, { eventId, settlement }] of ended.entries()) {
          const { id, next_retry_at, organization_id, status } = settlement
          if (next_retry_at !== null) retryAt = Math.min(retryAt, Date.parse(next_retry_at))
          settledMeanwhile?.add(organization_id)
          awaited ||= heldBack.has(organization_id)
          if (answers?.[index] === true) {
            EngineMetrics.deliveriesSettled(status).updateUnsafe(1, context)
          } else {
            EngineMetrics.leasesLost("deliveries").updateUnsafe(1, context)
            yield* Effect.logWarning("A delivery was in other hands when it was settled").pipe(
              Effect.annotateLogs({ deliveryId: id, eventId })
            )
          }
        }
        if (retryAt < elapseAt) {
          elapseAt = retryAt
          yield* wakeups.nudge("deliveries")
        }
        if (awaited) yield* wakeups.wakeHere("deliveries")
      })

      const writeDown = yield* Batcher.collect<Ended, boolean>({
        name: "settlements",
        patienceMs: leaseMs,
        write: (ended) =>
          Effect.map(settling.withPermit(queue.settle(ended.map(({ settlement }) => settlement))), (settled) => {
            const ids = new Set(settled)
            return ended.map(({ settlement }) => ids.has(settlement.id))
          }),
        answered: afterWriting
      })

      const leave = Effect.suspend(() => {
        attempting -= 1
        EngineMetrics.inFlight.modifyUnsafe(-1, context)
        return full ? wakeups.wakeHere("deliveries") : Effect.void
      })

      const deliver = (delivery: ClaimedDelivery) =>
        Trace.under(attempt(delivery), delivery.trace).pipe(
          Effect.map((settlement) => {
            unwritten += 1
            allWritten.closeUnsafe()
            writeDown({ eventId: delivery.event_id, settlement })
          }),
          Effect.catchDefect((defect) =>
            Effect.logError("A delivery could not be attempted; its lease will bring it back", defect).pipe(
              Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
            )
          ),
          Effect.andThen(leave)
        )

      yield* Effect.addFinalizer(() =>
        FiberSet.awaitEmpty(attempts).pipe(
          Effect.andThen(allWritten.await),
          Effect.timeoutOption(Duration.millis(webhooks.timeoutMs + settleWithinMs))
        )
      )

      const round = Effect.fnUntraced(function* (woken: boolean) {
        const now = yield* Clock.currentTimeMillis
        if (now >= elapseAt) {
          const elapsed = yield* timers.elapse
          elapseAt = Math.min(elapsed.next ?? Infinity, now + Poller.sweepMs)
          yield* Metric.update(EngineMetrics.leasesExpired, elapsed.leases)
          if (!woken && !elapsed.anyReady) return { restUntil: elapseAt }
        } else if (!woken) return { restUntil: elapseAt }

        const sinceClaim = performance.now() - claimedAt
        if (sinceClaim < paceMs && Math.min(claimedLast, free()) < enough) yield* Effect.sleep(paceMs - sinceClaim)
        yield* settling.withPermit(Effect.void)
        const places = free()
        full = places <= 0
        if (full) return { restUntil: elapseAt }
        const meanwhile = new Set<string>()
        settledMeanwhile = meanwhile
        const claim = queue.claim({
          limit: Math.min(places, claimAtMost),
          // However many organizations have receivers that hang, a place is left for the next.
          perOrganization: Math.min(tenantConcurrency, places),
          leaseMs
        })
        const claimed = yield* EngineMetrics.timed(EngineMetrics.claimSeconds("deliveries"), claim)
        const { deliveries } = claimed
        settledMeanwhile = undefined
        heldBack = new Set(claimed.heldBack)
        claimedLast = deliveries.length
        if (claimedLast > 0) claimedAt = performance.now()
        attempting += deliveries.length
        yield* Metric.modify(EngineMetrics.inFlight, deliveries.length)
        for (const delivery of deliveries) yield* FiberSet.run(attempts, deliver(delivery))
        if (claimed.heldBack.some((id) => meanwhile.has(id))) return "again"
        if (!claimed.more) return { restUntil: elapseAt }
        return deliveries.length > 0 ? "again" : "soon"
      })

      yield* Poller.run({ kind: "deliveries", round, wakeups })
    })
  )
