/**
 * Sends webhooks: claims deliveries that are due, attempts them side by side, and settles each.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Duration, Effect, FiberSet, Layer, Metric } from "effect"
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

// Claims that bring something are this far apart, so that under load each brings much: what a claim costs depends more on
// how many organizations it touches than on how much it takes of each.
const paceMs = 8

// What an attempt needs beyond its own deadline to be written down.
const settleWithinMs = 4000

/**
 * Layer that runs the delivery worker for as long as it lives. When it closes it claims nothing more, and lets what is
 * in flight end within its deadline.
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
      const settle = yield* Batcher.make<Settlement, boolean>({
        name: "settlements",
        patienceMs: leaseMs,
        write: (settlements) =>
          Effect.map(queue.settle(settlements), (settled) => {
            const ids = new Set(settled)
            return settlements.map(({ id }) => ids.has(id))
          })
      })
      const inFlight = yield* FiberSet.make()

      // When a retry or a lease is due, as far as this worker knows; when it claimed something last.
      let elapseAt = 0
      let claimedAt = -paceMs

      // Whose places are waited for: everybody's when the worker is full, else those of organizations that are held back.
      // What is settled during a claim may be what the claim misses.
      let full = false
      let heldBack: ReadonlySet<string> = new Set()
      let settledMeanwhile: Set<string> | undefined

      const deliver = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
        const settlement = yield* attempt(delivery)
        if ((yield* settle(settlement)) === true) {
          yield* Metric.update(EngineMetrics.deliveriesSettled(settlement.status), 1)
        } else {
          yield* Metric.update(EngineMetrics.leasesLost("deliveries"), 1)
          yield* Effect.logWarning("A delivery was in other hands when it was settled").pipe(
            Effect.annotateLogs({ deliveryId: delivery.id, eventId: delivery.event_id })
          )
        }
        const retryAt = settlement.next_retry_at === null ? Infinity : Date.parse(settlement.next_retry_at)
        yield* Metric.modify(EngineMetrics.inFlight, -1)
        if (retryAt < elapseAt) {
          elapseAt = retryAt
          yield* wakeups.nudge("deliveries")
        }
        settledMeanwhile?.add(delivery.organization_id)
        if (full || heldBack.has(delivery.organization_id)) yield* wakeups.wakeHere("deliveries")
      })

      yield* Effect.addFinalizer(() =>
        Effect.timeoutOption(FiberSet.awaitEmpty(inFlight), Duration.millis(webhooks.timeoutMs + settleWithinMs))
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
        if (sinceClaim < paceMs) yield* Effect.sleep(paceMs - sinceClaim)
        const free = workerConcurrency - (yield* FiberSet.size(inFlight))
        full = free <= 0
        if (full) return { restUntil: elapseAt }
        const meanwhile = new Set<string>()
        settledMeanwhile = meanwhile
        const claim = queue.claim({
          limit: Math.min(free, claimAtMost),
          // However many organizations have receivers that hang, a place is left for the next.
          perOrganization: Math.min(tenantConcurrency, free),
          leaseMs
        })
        const claimed = yield* EngineMetrics.timed(EngineMetrics.claimSeconds("deliveries"), claim)
        const { deliveries } = claimed
        settledMeanwhile = undefined
        heldBack = new Set(claimed.heldBack)
        if (deliveries.length > 0) claimedAt = performance.now()
        yield* Metric.modify(EngineMetrics.inFlight, deliveries.length)
        for (const delivery of deliveries) {
          yield* FiberSet.run(inFlight, Trace.under(deliver(delivery), delivery.trace))
        }
        if (claimed.heldBack.some((id) => meanwhile.has(id))) return "again"
        if (!claimed.more) return { restUntil: elapseAt }
        return deliveries.length > 0 ? "again" : "soon"
      })

      yield* Poller.run({ kind: "deliveries", round, wakeups })
    })
  )
