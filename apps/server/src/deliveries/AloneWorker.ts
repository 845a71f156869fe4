/**
 * Attempts deliveries alone that were interrupted at least twice, one at a time, each in a process of its own.
 *
 * An attempt that ends the process leaves the lease to expire, which counts the next interruption, as everywhere.
 */
import { Dispatcher, DispatcherError, type DispatcherOptions, type Outcome } from "@govoice/dispatcher"
import { Duration, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { KeyRing } from "../crypto/KeyRing.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { StatementTime } from "../database/StatementTime.ts"
import * as LeaseTime from "../jobs/LeaseTime.ts"
import * as SpareProcess from "../jobs/SpareProcess.ts"
import * as TraceContext from "../observability/TraceContext.ts"
import { Settings } from "../settings/Settings.ts"
import { claimAlone } from "./alone.sql.ts"
import * as Attempt from "./Attempt.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import * as CompletionWriter from "./CompletionWriter.ts"
import { DeliveryQueue } from "./DeliveryQueue.ts"

// How long the process may take to start, by which its leases are longer.
const startMs = 10_000

// There is almost never anything to attempt alone.
const pollInterval = Duration.seconds(5)

const completeWithinMs = 4000

/** Layer that provides `Dispatcher` as a process for each request. `send` dies with `SpareProcessEnded` if that ended. */
export const layerDispatcher = (entry: URL, options: DispatcherOptions, timeoutMs: number): Layer.Layer<Dispatcher> =>
  Layer.succeed(Dispatcher)({
    send: (request) =>
      SpareProcess.run(entry, { options, request }, { startMs, timeoutMs }).pipe(
        Effect.orDie,
        Effect.flatMap((answer) => {
          if (answer._tag === "Result") return Effect.succeed(answer.result as Outcome)
          const { code, message } = answer
          return Effect.die(
            code === "invalid_request" ? new DispatcherError("invalid_request", message) : new Error(message)
          )
        })
      )
  })

/** Makes the effect that claims one delivery to attempt alone, or none. Organizations take turns. */
export const makeClaim = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statementTime = (yield* StatementTime)(sql)
  let lastServed = ""
  return Effect.fnUntraced(function* (options: { readonly perOrganization: number; readonly leaseMs: number }) {
    const now = yield* statementTime
    const [next] = yield* claimAlone(sql, { ...options, now, after: lastServed })
    const [delivery] =
      next === undefined && lastServed !== "" ? yield* claimAlone(sql, { ...options, now, after: "" }) : [next]
    lastServed = delivery?.organization_id ?? ""
    return delivery
  })
})

/** Layer that runs the worker. When it closes, the attempt in flight may end within the webhook timeout. */
export const layer: Layer.Layer<never, never, DeliveryQueue | Dispatcher | KeyRing | Settings | SqlClient.SqlClient> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const claim = yield* makeClaim
      const attempt = yield* Attempt.make
      const { leaseMs, organizationConcurrency: perOrganization, webhooks } = yield* Settings
      const writer = CompletionWriter.make(yield* DeliveryQueue, leaseMs)

      const deliver = Effect.fnUntraced(
        function* (delivery: ClaimedDelivery, leasedUntil: number) {
          const completion = yield* TraceContext.under(attempt(delivery, leasedUntil), delivery.traceparent)
          yield* writer.writeWithRetry([completion])
        },
        (effect, { event_id, id, invoice_id }) =>
          effect.pipe(
            Effect.catchDefect((defect) =>
              defect instanceof SpareProcess.SpareProcessEnded
                ? Effect.logError(
                    "Delivery ended its process; counts as interrupted when the lease expires",
                    defect.message
                  )
                : Effect.die(defect)
            ),
            Effect.annotateLogs({ deliveryId: id, eventId: event_id, invoiceId: invoice_id })
          )
      )

      const iteration = Effect.gen(function* () {
        const claimed = claim({ perOrganization, leaseMs: leaseMs + startMs })
        const { claim: delivery, leasedUntil } = yield* LeaseTime.claimed(claimed, leaseMs)
        if (delivery === undefined) return false
        yield* deliver(delivery, leasedUntil)
        return true
      }).pipe(OutageLog.tolerate("alone", "Round of the alone worker failed; retrying"))

      const fiber = yield* Effect.uninterruptible(iteration).pipe(
        Effect.flatMap((hasMore) => (hasMore === true ? Effect.yieldNow : Effect.sleep(pollInterval))),
        Effect.forever,
        Effect.forkDetach
      )
      yield* Effect.addFinalizer(() =>
        Effect.timeoutOption(Fiber.interrupt(fiber), Duration.millis(webhooks.timeoutMs + completeWithinMs))
      )
    })
  )
