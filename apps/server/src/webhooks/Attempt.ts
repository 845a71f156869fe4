/** One attempt at a delivery: checks, signs and sends the request, and derives the completion from its result. */
import { DeliveryState, DeliveryVerdict } from "@govoice/core"
import {
  Backoff,
  Dispatcher,
  DispatcherError,
  type DispatchRequest,
  mayRequestWait,
  type Outcome,
  type Refused
} from "@govoice/dispatcher"
import { Clock, Effect, Random, Result } from "effect"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as ThrottledLog from "../observability/ThrottledLog.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { KeyRing } from "../crypto/KeyRing.ts"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import { QuarantineInterruption, QuarantineUnavailable } from "../jobs/QuarantineProcess.ts"
import { Settings } from "../settings/Settings.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import type { Completion } from "./Completion.ts"
import * as WebhookSigner from "./WebhookSigner.ts"

type AttemptResult = DeliveryVerdict.AttemptResult

const requestedWait = ({ retryAfterMs, status }: Refused): number | undefined =>
  mayRequestWait(status) ? retryAfterMs : undefined

/** Returns the result of the attempt for the outcome of its request. */
export const toResult = (outcome: Outcome): AttemptResult => {
  switch (outcome._tag) {
    case "Delivered":
      return { _tag: "answered", status: outcome.status }
    case "Refused":
      return { _tag: "answered", status: outcome.status, retryAfterMs: requestedWait(outcome) }
    case "Failed":
      return { _tag: outcome.reason === "timeout" && outcome.attempted ? "timed_out" : "connection_failed" }
    case "Blocked":
      return { _tag: "blocked" }
  }
}

// A failure of the sender itself.
const unsent: Outcome = { _tag: "Failed", reason: "connect", retryable: true, attempted: false, durationMs: 0 }

// Waits after attempts that send nothing: for an operator to correct the encryption keys, and for an overload to pass.
const unsentRetryMs: { readonly [Tag in AttemptResult["_tag"]]?: number } = {
  secret_unavailable: 30_000,
  lease_too_short: 5000
}

/** How much longer than its request a lease must last for the completion to be written in time, in milliseconds. */
export const completionMs = 1000

// Undo the attempt count if no request was sent.
const wasSent = ({ _tag }: AttemptResult): boolean =>
  _tag === "answered" || _tag === "timed_out" || _tag === "connection_failed"

const toIso = (milliseconds: number): string => new Date(milliseconds).toISOString()

const idsOf = (delivery: ClaimedDelivery) => ({
  deliveryId: delivery.id,
  eventId: delivery.event_id,
  invoiceId: delivery.invoice_id
})

/**
 * Makes the function that performs an attempt and returns its completion. It never fails. `leasedUntil` is the monotonic
 * time until which the lease lasts at least: a request that might end after it is not sent.
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
  const leaseLog = ThrottledLog.make({
    down: "Leases are too short when deliveries are sent; they are retried. Check the database and the CPU of this worker.",
    recovered: "Leases are long enough when deliveries are sent"
  })

  const conclude = (delivery: ClaimedDelivery, startedAt: number, result: AttemptResult): Effect.Effect<Completion> => {
    const endedAt = clock.currentTimeMillisUnsafe()
    const status = result._tag === "answered" ? result.status : null
    const attempts = wasSent(result) ? delivery.attempt_count : delivery.attempt_count - 1
    const unsentWait = unsentRetryMs[result._tag]
    const wait =
      unsentWait !== undefined
        ? Backoff.nextDelay({ attempt: 1, random: () => random.nextDoubleUnsafe(), schedule: [unsentWait] })
        : Backoff.nextDelay({
            attempt: attempts,
            random: () => random.nextDoubleUnsafe(),
            schedule: webhooks.retrySchedule,
            retryAfterMs: result._tag === "answered" ? result.retryAfterMs : undefined
          })
    const { summary, trigger } = DeliveryVerdict.judge(result, wait !== undefined)

    EngineMetrics.attempts(EngineMetrics.labelOf(result)).updateUnsafe(1, context)
    EngineMetrics.lagSeconds.updateUnsafe(Math.max(0, startedAt - delivery.available_at.getTime()) / 1000, context)
    if (wasSent(result)) EngineMetrics.attemptDuration.updateUnsafe((endedAt - startedAt) / 1000, context)

    const completion: Completion = {
      id: delivery.id,
      organization_id: delivery.organization_id,
      endpoint_id: delivery.endpoint_id,
      event_id: delivery.event_id,
      fencing_token: delivery.fencing_token,
      status: Result.getOrThrow(DeliveryState.next("delivering", trigger)),
      attempt_count: attempts,
      last_attempted_at: wasSent(result) ? toIso(startedAt) : (delivery.last_attempted_at?.toISOString() ?? null),
      last_http_status: status,
      last_error_summary: summary,
      next_retry_at: trigger === "retry" && wait !== undefined ? toIso(endedAt + wait) : null,
      delivered_at: trigger === "succeed" ? toIso(endedAt) : null,
      updated_at: toIso(endedAt)
    }
    return summary === null
      ? Effect.succeed(completion)
      : Effect.logInfo(`Delivery attempt failed: ${summary}`).pipe(
          Effect.annotateLogs({ ...idsOf(delivery), attempts }),
          Effect.as(completion)
        )
  }

  const logError = (delivery: ClaimedDelivery, message: string, cause: unknown) =>
    Effect.annotateLogs(Effect.logError(message, cause), idsOf(delivery))

  const perform = (delivery: ClaimedDelivery, now: number, leasedUntil: number): Effect.Effect<AttemptResult> => {
    if (!delivery.endpoint_enabled) return Effect.succeed({ _tag: "disabled" })

    const secret = Result.try(() => signer.openSecret(delivery, now))
    if (Result.isFailure(secret)) {
      return Effect.as(secretLog.failure(secret.failure), { _tag: "secret_unavailable" })
    }
    const request = Result.try((): DispatchRequest => ({
      ...signer.sign(delivery, secret.success, now),
      deadlineMs: webhooks.timeoutMs
    }))
    if (Result.isFailure(request)) {
      return Effect.as(logError(delivery, "Delivery request could not be prepared", request.failure), {
        _tag: "invalid_request"
      })
    }
    const leftMs = leasedUntil - LeaseTime.monotonicMs(clock)
    if (leftMs < webhooks.timeoutMs + completionMs) {
      const reason = `${leftMs} ms are left, and a request may take ${webhooks.timeoutMs} ms`
      return Effect.as(leaseLog.failure(reason), { _tag: "lease_too_short" })
    }
    const sent = dispatcher.send(request.success).pipe(
      Effect.map(toResult),
      Effect.catchDefect((defect): Effect.Effect<AttemptResult> => {
        if (defect instanceof QuarantineInterruption || defect instanceof QuarantineUnavailable)
          return Effect.die(defect)
        // An invalid request stays invalid; any other failure of the sender is transient.
        const isInvalid = defect instanceof DispatcherError && defect.code === "invalid_request"
        return Effect.as(
          logError(delivery, "Delivery request could not be sent", defect),
          isInvalid ? { _tag: "invalid_request" } : toResult(unsent)
        )
      })
    )
    return leaseLog.outage() === undefined ? sent : Effect.andThen(leaseLog.success, sent)
  }

  return (delivery: ClaimedDelivery, leasedUntil: number): Effect.Effect<Completion> => {
    const attempt = Effect.suspend(() => {
      const startedAt = clock.currentTimeMillisUnsafe()
      return Effect.flatMap(perform(delivery, startedAt, leasedUntil), (result) =>
        conclude(delivery, startedAt, result)
      )
    })
    return exported ? Effect.withSpan(attempt, "Attempt", { attributes: idsOf(delivery) }) : attempt
  }
})
