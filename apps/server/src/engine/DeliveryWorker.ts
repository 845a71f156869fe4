/**
 * Sends webhooks: claims deliveries that are due, attempts them side by side, and settles each.
 *
 * @since 0.1.0
 */
import type { Dispatcher } from "@govoice/dispatcher"
import { Duration, Effect, FiberSet, Layer } from "effect"
import type { KeyRing } from "../security/KeyRing.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import { type ClaimedDelivery, DeliveryQueue } from "./DeliveryQueue.ts"
import * as Poller from "./Poller.ts"
import * as Settler from "./Settler.ts"
import { Wakeups } from "./Wakeups.ts"

const claimAtMost = 100

// What an attempt needs beyond its own deadline to be written down.
const settleWithinMs = 4000

/**
 * Layer that runs the delivery worker for as long as it lives. When it closes it claims nothing more, and lets what is
 * in flight end within its deadline.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, DeliveryQueue | Dispatcher | KeyRing | Settings | Wakeups> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const queue = yield* DeliveryQueue
      const wakeups = yield* Wakeups
      const attempt = yield* Attempt.make
      const { leaseMs, tenantConcurrency, webhooks, workerConcurrency } = yield* Settings
      const settle = yield* Settler.make(queue, leaseMs)
      const inFlight = yield* FiberSet.make()

      const deliver = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
        yield* settle(yield* attempt(delivery))
        // A place is free, here and in the bound of the organization.
        yield* wakeups.wake("deliveries")
      })

      yield* Effect.addFinalizer(() =>
        Effect.timeoutOption(FiberSet.awaitEmpty(inFlight), Duration.millis(webhooks.timeoutMs + settleWithinMs))
      )

      const round = Effect.gen(function* () {
        const free = workerConcurrency - (yield* FiberSet.size(inFlight))
        if (free <= 0) return false
        const claimed = yield* queue.claim({
          limit: Math.min(free, claimAtMost),
          perOrganization: tenantConcurrency,
          leaseMs
        })
        for (const delivery of claimed) yield* FiberSet.run(inFlight, deliver(delivery))
        return claimed.length > 0
      })

      yield* Poller.run({ kind: "deliveries", round, nextDueAfter: queue.nextDueAfter, wakeups })
    })
  )
