/**
 * One attempt at a delivery: check, sign, send, judge.
 *
 * @since 0.1.0
 */
import { DeliveryState, DeliveryVerdict, RetrySchedule } from "@govoice/core"
import { Dispatcher, DispatcherError, type DispatchRequest, type Outcome } from "@govoice/dispatcher"
import { signSync } from "@govoice/webhooks"
import { Clock, Effect, Random, Result } from "effect"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as Trace from "../observability/Trace.ts"
import { KeyRing } from "../security/KeyRing.ts"
import { Settings } from "../settings/Settings.ts"
import { version } from "../version.ts"
import type { ClaimedDelivery, Settlement } from "./DeliveryQueue.ts"

interface End {
  readonly end: DeliveryVerdict.AttemptEnd
  readonly retryAfterMs?: number | undefined
}

const toEnd = (outcome: Outcome): End => {
  switch (outcome._tag) {
    case "Delivered":
      return { end: { _tag: "answered", status: outcome.status } }
    case "Refused":
      return { end: { _tag: "answered", status: outcome.status }, retryAfterMs: outcome.retryAfterMs }
    case "Failed":
      return { end: { _tag: outcome.reason === "timeout" && outcome.attempted ? "timed_out" : "unconnected" } }
    case "Blocked":
      return { end: { _tag: "blocked" } }
  }
}

// A failure of the sender itself, which is no fault of the receiver.
const unsent: Outcome = { _tag: "Failed", reason: "connect", retryable: true, attempted: false, durationMs: 0 }

// Opening a secret costs as much as sending a request. Those of the endpoints served last are kept open, and opened anew
// when they have changed.
const keptOpen = 1000

const makeOpener = (keyRing: KeyRing["Service"]) => {
  const open = new Map<string, { readonly sealed: Uint8Array; readonly secret: string }>()
  return (sealed: Uint8Array, endpointId: string): string => {
    const known = open.get(endpointId)
    if (known !== undefined && Buffer.compare(known.sealed, sealed) === 0) return known.secret
    const secret = keyRing.open(sealed, { column: "webhook_endpoints.secret", row: endpointId })
    // A map keeps the order in which it was filled: the first has been there for longest.
    const [first] = open.keys()
    if (open.size >= keptOpen && first !== undefined) open.delete(first)
    open.set(endpointId, { sealed, secret })
    return secret
  }
}

const activeSecret = (delivery: ClaimedDelivery, now: number): Uint8Array =>
  delivery.next_secret !== null && delivery.next_secret_at !== null && delivery.next_secret_at.getTime() <= now
    ? delivery.next_secret
    : delivery.secret

// What never left counts as no attempt, whatever the claim counted in advance.
const left = ({ _tag }: DeliveryVerdict.AttemptEnd): boolean =>
  _tag === "answered" || _tag === "timed_out" || _tag === "unconnected"

// Many attempts begin or end in the same millisecond.
const makeFormatter = () => {
  let last = 0
  let text = new Date(last).toISOString()
  return (milliseconds: number): string => {
    if (milliseconds !== last) {
      last = milliseconds
      text = new Date(milliseconds).toISOString()
    }
    return text
  }
}

const idsOf = (delivery: ClaimedDelivery) => ({
  deliveryId: delivery.id,
  eventId: delivery.event_id,
  invoiceId: delivery.invoice_id
})

/**
 * Makes the function that performs an attempt and says what to write down. It never fails.
 *
 * **Details**
 *
 * Attempts are many, so each is one fiber with one wait in it: what it needs of its surroundings is taken here, once, and
 * it has a span and log annotations only where somebody sees them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.gen(function* () {
  const dispatcher = yield* Dispatcher
  const openSecret = makeOpener(yield* KeyRing)
  const { webhooks } = yield* Settings
  const maxAttempts = RetrySchedule.maxAttempts(webhooks.waits)
  const clock = yield* Clock.Clock
  const random = yield* Random.Random
  const exported = yield* Trace.Exported
  const context = yield* Effect.context()
  const beginning = makeFormatter()
  const ending = makeFormatter()

  const prepare = (delivery: ClaimedDelivery, now: number): DispatchRequest => {
    const secret = openSecret(activeSecret(delivery, now), delivery.endpoint_id)
    const timestamp = beginning(now)
    return {
      url: delivery.url,
      body: delivery.body,
      deadlineMs: webhooks.timeoutMs,
      headers: {
        "content-type": "application/json",
        "gov-event-id": delivery.event_id,
        "gov-timestamp": timestamp,
        "gov-signature": signSync({ secret, timestamp, body: delivery.body }),
        "user-agent": `Govoice-Webhooks/${version}`
      }
    }
  }

  const conclude = (
    delivery: ClaimedDelivery,
    startedAt: number,
    { end, retryAfterMs }: End
  ): Effect.Effect<Settlement> => {
    const endedAt = clock.currentTimeMillisUnsafe()
    const status = end._tag === "answered" ? end.status : null
    const attempts = left(end) ? delivery.attempt_count : delivery.attempt_count - 1
    const wait = RetrySchedule.nextWait({
      attempt: attempts,
      random: random.nextDoubleUnsafe(),
      waits: webhooks.waits,
      retryAfterMs: status === 429 || status === 503 ? retryAfterMs : undefined
    })
    const { summary, trigger } = DeliveryVerdict.judge(end, wait !== undefined)

    EngineMetrics.attempts(EngineMetrics.outcomeOf(end)).updateUnsafe(1, context)
    EngineMetrics.lagSeconds.updateUnsafe(Math.max(0, startedAt - delivery.ready_since.getTime()) / 1000, context)
    if (left(end)) EngineMetrics.attemptSeconds.updateUnsafe((endedAt - startedAt) / 1000, context)

    const settlement: Settlement = {
      id: delivery.id,
      organization_id: delivery.organization_id,
      endpoint_id: delivery.endpoint_id,
      event_id: delivery.event_id,
      claims: delivery.claims,
      status: Result.getOrThrow(DeliveryState.next("delivering", trigger)),
      attempt_count: attempts,
      last_attempted_at: left(end) ? beginning(startedAt) : (delivery.last_attempted_at?.toISOString() ?? null),
      last_http_status: status,
      last_error_summary: summary,
      next_retry_at: trigger === "retry" && wait !== undefined ? new Date(endedAt + wait).toISOString() : null,
      delivered_at: trigger === "succeed" ? ending(endedAt) : null,
      updated_at: ending(endedAt)
    }
    return summary === null
      ? Effect.succeed(settlement)
      : Effect.logInfo(`A webhook was not delivered: ${summary}`).pipe(
          Effect.annotateLogs({ ...idsOf(delivery), attempts }),
          Effect.as(settlement)
        )
  }

  const logError = (delivery: ClaimedDelivery, message: string, cause: unknown) =>
    Effect.annotateLogs(Effect.logError(message, cause), idsOf(delivery))

  const perform = (delivery: ClaimedDelivery, now: number): Effect.Effect<End> => {
    // The worker before vanished in the middle of the last attempt there is.
    if (delivery.taken_over && delivery.attempt_count > maxAttempts)
      return Effect.succeed({ end: { _tag: "interrupted" } })
    if (!delivery.endpoint_usable) return Effect.succeed({ end: { _tag: "disabled" } })

    const request = Result.try({ try: () => prepare(delivery, now), catch: (cause) => cause })
    if (Result.isFailure(request)) {
      return Effect.as(logError(delivery, "A webhook could not be prepared", request.failure), {
        end: { _tag: "unprepared" }
      })
    }
    return dispatcher.send(request.success).pipe(
      Effect.map(toEnd),
      // A request that must not be sent will not be sendable later; any other failure of the sender may pass.
      Effect.catchDefect((defect) =>
        Effect.as(
          logError(delivery, "A webhook could not be sent", defect),
          defect instanceof DispatcherError && defect.code === "invalid_request"
            ? { end: { _tag: "unprepared" } as const }
            : toEnd(unsent)
        )
      )
    )
  }

  return (delivery: ClaimedDelivery): Effect.Effect<Settlement> => {
    const attempt = Effect.suspend(() => {
      const startedAt = clock.currentTimeMillisUnsafe()
      return Effect.flatMap(perform(delivery, startedAt), (end) => conclude(delivery, startedAt, end))
    })
    return exported ? Effect.withSpan(attempt, "Attempt", { attributes: idsOf(delivery) }) : attempt
  }
})
