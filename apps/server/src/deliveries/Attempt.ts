/** One attempt at a delivery: checks, signs and sends the request, and derives the completion from its outcome. */
import { DeliveryState } from "@govoice/core"
import { Backoff, Dispatcher, DispatcherError, type DispatchRequest } from "@govoice/dispatcher"
import { Clock, Effect, Random, Result } from "effect"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { KeyRing } from "../crypto/KeyRing.ts"
import { SpareProcessEnded, SpareProcessUnavailable } from "../jobs/SpareProcess.ts"
import { Settings } from "../settings/Settings.ts"
import {
  type AttemptOutcome,
  isCounted,
  labelOf,
  type NotSent,
  sentenceOf,
  triggerOf,
  wasTried
} from "./AttemptOutcome.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import type { Completion } from "./Completion.ts"
import * as ReceiverLog from "./ReceiverLog.ts"
import * as WebhookSigner from "./WebhookSigner.ts"

const notSent = (reason: NotSent["reason"]): NotSent => ({ _tag: "NotSent", reason })

// Waits after attempts that send nothing and do not count: for an operator to correct the encryption keys, and for an overload to
// pass.
const notSentRetryMs: { readonly [Reason in NotSent["reason"]]?: number } = {
  secret_unavailable: 30_000,
  lease_too_short: 5000,
  process_unavailable: 5000
}

/** How much longer than its request a lease must last for the completion to be written in time, in milliseconds. */
export const completionMs = 1000

const paceOf = (outcome: AttemptOutcome): Completion["pace"] =>
  wasTried(outcome) ? (outcome._tag === "Failed" ? "slow" : "steady") : null

// A refused address is a fault of the endpoint, too. A request that was never sent is not.
const worksOf = (outcome: AttemptOutcome): Completion["works"] =>
  outcome._tag === "NotSent" ? null : outcome._tag === "Delivered"

const toIso = (milliseconds: number): string => new Date(milliseconds).toISOString()

const idsOf = (delivery: ClaimedDelivery) => ({
  deliveryId: delivery.id,
  eventId: delivery.event_id,
  invoiceId: delivery.invoice_id
})

/**
 * Makes the function that performs an attempt and returns its completion. It dies only with `SpareProcessEnded`, when nobody
 * knows what became of the request. `leasedUntil` is the monotonic time until which the lease lasts at least: a request that might end after it is not sent.
 *
 * An attempt is one fiber with one suspension. Services are read once, here, and spans and log annotations are made only
 * where they are exported.
 */
export const make = Effect.gen(function* () {
  const dispatcher = yield* Dispatcher
  const signer = WebhookSigner.make(yield* KeyRing)
  const { webhooks } = yield* Settings
  const clock = yield* Clock.Clock
  const random = yield* Random.Random
  const exported = yield* TraceContext.Exported
  const context = yield* Effect.context()
  const secretLog = ThrottledLog.make({
    down: "An endpoint secret could not be decrypted; deliveries are retried. Check GOVOICE_ENCRYPTION_KEYS.",
    recovered: "Endpoint secrets can be decrypted"
  })
  const receiverLog = ReceiverLog.make()
  const leaseLog = ThrottledLog.make({
    down: "Leases are too short when deliveries are sent; they are retried. Check the database and the CPU of this worker.",
    recovered: "Leases are long enough when deliveries are sent"
  })

  const waitAfter = (outcome: AttemptOutcome, attempts: number): number | undefined => {
    const retryMs = outcome._tag === "NotSent" ? notSentRetryMs[outcome.reason] : undefined
    const nextRandom = () => random.nextDoubleUnsafe()
    return retryMs === undefined
      ? Backoff.nextDelay({
          attempt: attempts,
          random: nextRandom,
          schedule: webhooks.retrySchedule,
          retryAfterMs: outcome._tag === "Refused" ? outcome.retryAfterMs : undefined
        })
      : Backoff.nextDelay({ attempt: 1, random: nextRandom, schedule: [retryMs] })
  }

  const conclude = (
    delivery: ClaimedDelivery,
    startedAt: number,
    outcome: AttemptOutcome
  ): Effect.Effect<Completion> => {
    const endedAt = clock.currentTimeMillisUnsafe()
    const counts = isCounted(outcome)
    const attempts = counts ? delivery.attempt_count : delivery.attempt_count - 1
    const wait = waitAfter(outcome, attempts)
    const trigger = triggerOf(outcome, wait !== undefined)
    const sentence = sentenceOf(outcome)

    EngineMetrics.attempts(labelOf(outcome)).updateUnsafe(1, context)
    EngineMetrics.lagSeconds.updateUnsafe(Math.max(0, startedAt - delivery.available_at.getTime()) / 1000, context)
    if (wasTried(outcome)) EngineMetrics.attemptDuration.updateUnsafe((endedAt - startedAt) / 1000, context)

    const completion: Completion = {
      id: delivery.id,
      organization_id: delivery.organization_id,
      endpoint_id: delivery.endpoint_id,
      event_id: delivery.event_id,
      fencing_token: delivery.fencing_token,
      status: Result.getOrThrow(DeliveryState.next("delivering", trigger)),
      attempt_count: attempts,
      pace: paceOf(outcome),
      works: worksOf(outcome),
      last_attempted_at: counts ? toIso(startedAt) : (delivery.last_attempted_at?.toISOString() ?? null),
      last_http_status: "status" in outcome ? outcome.status : null,
      last_error_summary: sentence,
      next_retry_at: trigger === "retry" && wait !== undefined ? toIso(endedAt + wait) : null,
      updated_at: toIso(endedAt)
    }
    const logged =
      sentence === null
        ? Effect.void
        : Effect.annotateLogs(Effect.logDebug(`Delivery attempt failed: ${sentence}`), { ...idsOf(delivery), attempts })
    const recorded = wasTried(outcome) ? receiverLog.record(delivery.url, outcome, sentence) : Effect.void
    return Effect.as(Effect.andThen(logged, recorded), completion)
  }

  const logError = (delivery: ClaimedDelivery, message: string, cause: unknown) =>
    Effect.annotateLogs(Effect.logError(message, cause), idsOf(delivery))

  const perform = (delivery: ClaimedDelivery, now: number, leasedUntil: number): Effect.Effect<AttemptOutcome> => {
    if (!delivery.endpoint_enabled) return Effect.succeed(notSent("endpoint_disabled"))

    const secrets = Result.try(() => signer.openSecrets(delivery, now))
    if (Result.isFailure(secrets)) {
      return Effect.as(secretLog.failure(secrets.failure), notSent("secret_unavailable"))
    }
    const request = Result.try((): DispatchRequest => ({
      ...signer.sign(delivery, secrets.success, now),
      deadlineMs: webhooks.timeoutMs
    }))
    if (Result.isFailure(request)) {
      return Effect.as(
        logError(delivery, "Delivery request could not be prepared", request.failure),
        notSent("invalid_request")
      )
    }
    const leftMs = leasedUntil - MonotonicTime.of(clock)
    if (leftMs < webhooks.timeoutMs + completionMs) {
      const reason = `${leftMs} ms are left, and a request may take ${webhooks.timeoutMs} ms`
      return Effect.as(leaseLog.failure(reason), notSent("lease_too_short"))
    }
    const sent = dispatcher.send(request.success).pipe(
      Effect.catchDefect((defect): Effect.Effect<AttemptOutcome> => {
        if (defect instanceof SpareProcessEnded) return Effect.die(defect)
        // It is no fault of the delivery that its process could not start.
        if (defect instanceof SpareProcessUnavailable) {
          return Effect.as(
            logError(delivery, "Process of an attempt could not start", defect.message),
            notSent("process_unavailable")
          )
        }
        // An invalid request stays invalid; any other failure of the sender may pass.
        const isInvalid = defect instanceof DispatcherError && defect.code === "invalid_request"
        return Effect.as(
          logError(delivery, "Delivery request could not be sent", defect),
          notSent(isInvalid ? "invalid_request" : "sender_failed")
        )
      })
    )
    return Effect.andThen(leaseLog.success, sent)
  }

  return (delivery: ClaimedDelivery, leasedUntil: number): Effect.Effect<Completion> => {
    const attempt = Effect.suspend(() => {
      const startedAt = clock.currentTimeMillisUnsafe()
      return Effect.flatMap(perform(delivery, startedAt, leasedUntil), (outcome) =>
        conclude(delivery, startedAt, outcome)
      )
    })
    return exported ? Effect.withSpan(attempt, "Attempt", { attributes: idsOf(delivery) }) : attempt
  }
})
