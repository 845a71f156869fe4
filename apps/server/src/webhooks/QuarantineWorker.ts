/**
 * Attempts deliveries in quarantine, one at a time, each in the quarantine process.
 *
 * An attempt that ends the process is an interruption that this delivery alone has caused. After
 * `Interruptions.maxInQuarantine` of them the delivery fails.
 */
import { DeliveryState, DeliveryVerdict } from "@govoice/core"
import type { Dispatcher } from "@govoice/dispatcher"
import { Clock, Effect, Layer, Random, Result } from "effect"
import type { KeyRing } from "../crypto/KeyRing.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import * as QuarantineLoop from "../jobs/QuarantineLoop.ts"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import { QuarantineInterruption } from "../jobs/QuarantineProcess.ts"
import * as RetryingBatcher from "../jobs/RetryingBatcher.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { Settings } from "../settings/Settings.ts"
import * as Attempt from "./Attempt.ts"
import type { Completion } from "./Completion.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"
import { type QuarantinedDelivery, QuarantineQueue } from "./QuarantineQueue.ts"

interface LeasedDelivery {
  readonly delivery: QuarantinedDelivery
  readonly leasedUntil: number
}

/** Returns the completion of an attempt that interrupted the quarantine process. */
export const afterInterruption = (
  delivery: QuarantinedDelivery,
  {
    now,
    random,
    retrySchedule
  }: {
    readonly now: number
    readonly random: number
    readonly retrySchedule: ReadonlyArray<number>
  }
): Completion => {
  const isLast = delivery.quarantine_interruption_count + 1 >= Interruptions.maxInQuarantine
  const { summary, trigger } = DeliveryVerdict.judge({ _tag: isLast ? "quarantine_failed" : "interrupted" }, true)
  const retryAt = now + Interruptions.nextWait(delivery.interruption_count + 1, random, retrySchedule)
  return {
    id: delivery.id,
    organization_id: delivery.organization_id,
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    fencing_token: delivery.fencing_token,
    status: Result.getOrThrow(DeliveryState.next("delivering", trigger)),
    attempt_count: delivery.attempt_count - 1,
    interrupted: true,
    last_attempted_at: delivery.last_attempted_at?.toISOString() ?? null,
    last_http_status: null,
    last_error_summary: summary,
    next_retry_at: isLast ? null : new Date(retryAt).toISOString(),
    delivered_at: null,
    updated_at: new Date(now).toISOString()
  }
}

/** Layer that runs the worker. */
export const layer: Layer.Layer<never, never, DeliveryQueue | Dispatcher | KeyRing | QuarantineQueue | Settings> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { claim } = yield* QuarantineQueue
      const { complete } = yield* DeliveryQueue
      const attempt = yield* Attempt.make
      const { leaseMs, organizationConcurrency, webhooks } = yield* Settings

      const completeWithRetry = RetryingBatcher.retrying<Completion, boolean>({
        name: "completions in quarantine",
        retryForMs: leaseMs,
        write: (completions) =>
          Effect.map(complete(completions), (ids) => completions.map(({ id }) => ids.includes(id)))
      })

      const onInterruption = Effect.fnUntraced(function* (
        delivery: QuarantinedDelivery,
        interruption: QuarantineInterruption
      ) {
        const now = yield* Clock.currentTimeMillis
        const completion = afterInterruption(delivery, {
          now,
          random: yield* Random.next,
          retrySchedule: webhooks.retrySchedule
        })
        const end = completion.status === "failed" ? "quarantine_failed" : "interrupted"
        yield* EngineMetrics.countAttempt({ _tag: end })
        yield* Effect.logError(
          completion.status === "failed"
            ? `Delivery stopped: it interrupted the quarantine process ${Interruptions.maxInQuarantine} times`
            : "Delivery interrupted the quarantine process; will retry",
          interruption.message
        )
        return completion
      })

      // The lease is longer by the time that the process may take to start, which is no part of a request.
      const claimNext = LeaseTime.claimed(
        claim({ perOrganization: organizationConcurrency, leaseMs: leaseMs + QuarantineLoop.startMs }),
        leaseMs
      ).pipe(
        Effect.map(({ claim: delivery, leasedUntil }) =>
          delivery === undefined ? undefined : { delivery, leasedUntil }
        )
      )

      const deliver = Effect.fnUntraced(
        function* ({ delivery, leasedUntil }: LeasedDelivery) {
          const completion = yield* TraceContext.under(attempt(delivery, leasedUntil), delivery.traceparent).pipe(
            Effect.catchDefect((defect) =>
              defect instanceof QuarantineInterruption ? onInterruption(delivery, defect) : Effect.die(defect)
            )
          )
          const [isWritten] = yield* completeWithRetry([completion])
          yield* EngineMetrics.countCompletion(completion.status, isWritten === true)
          if (isWritten !== true) yield* Effect.logWarning("Delivery lease lost; completion discarded")
        },
        (effect, { delivery: { event_id, id, invoice_id } }) =>
          Effect.annotateLogs(effect, { deliveryId: id, eventId: event_id, invoiceId: invoice_id })
      )

      yield* QuarantineLoop.run({
        name: "deliveries",
        claim: claimNext,
        process: deliver,
        stopWithinMs: webhooks.timeoutMs + 4000
      })
    })
  )
