/** Processes invoices: claims those that are due, calls the gateway, and writes the transition. */
import * as OutageLog from "../../database/OutageLog.ts"
import { Clock, Duration, Effect, FiberSet, Layer, Metric } from "effect"
import { InvoiceGateways } from "./gateway/InvoiceGateway.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import * as TraceContext from "../../observability/TraceContext.ts"
import { Settings } from "../../settings/Settings.ts"
import * as RetryingBatcher from "../../jobs/RetryingBatcher.ts"
import { callGateway } from "./callGateway.ts"
import type { ClaimedInvoice, PendingTransition } from "../ClaimedInvoice.ts"
import { InvoiceQueue } from "./InvoiceQueue.ts"
import * as WorkerLoop from "../../jobs/WorkerLoop.ts"
import { Notifier } from "../../jobs/Notifier.ts"

// How many invoices a worker processes at once. Each is loaded with its document, so this bounds memory, too.
const concurrency = 50

// How long a stop waits for gateways.
const stopWithinMs = 4000

/** Layer that runs the invoice worker. When it closes, it stops claiming and waits 4 s for gateways to answer. */
export const layer: Layer.Layer<never, never, InvoiceQueue | InvoiceGateways | Notifier | Settings> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const queue = yield* InvoiceQueue
      const gateway = (yield* InvoiceGateways).test
      const notifier = yield* Notifier
      const { leaseMs } = yield* Settings
      const write = yield* RetryingBatcher.make<PendingTransition, boolean>({
        name: "invoice transitions",
        retryForMs: leaseMs,
        write: queue.transition
      })
      const inProgress = yield* FiberSet.make()

      // When the next invoice is due, as far as this worker knows, and whether the loop waits for a slot.
      let dueAt = 0
      let awaitingSlot = true

      const advance = Effect.fn("InvoiceWorker.advance")(function* (invoice: ClaimedInvoice) {
        yield* Effect.annotateCurrentSpan({ invoiceId: invoice.id, status: invoice.status })
        const transition = yield* callGateway(gateway, invoice)
        const written = yield* write({ invoice, transition })
        if (written !== true) return yield* Metric.update(EngineMetrics.staleCompletions("invoices"), 1)
        yield* Metric.update(EngineMetrics.invoiceTransitions(transition.status), 1)
        yield* Effect.logDebug("Invoice transitioned").pipe(
          Effect.annotateLogs({ invoiceId: invoice.id, from: invoice.status, to: transition.status })
        )
        if (transition.emits !== null) yield* notifier.wake("deliveries", [invoice.organization_id])
        if (transition.dueAt !== null && transition.dueAt.getTime() < dueAt) {
          dueAt = transition.dueAt.getTime()
          yield* notifier.recheck("invoices")
        }
      })

      const inBackground = (invoice: ClaimedInvoice) =>
        TraceContext.under(advance(invoice), invoice.traceparent).pipe(
          Effect.catchCause((cause) =>
            OutageLog.report(
              cause,
              Effect.logError("Invoice processing failed; will retry when the lease expires", cause)
            ).pipe(Effect.annotateLogs({ invoiceId: invoice.id }))
          ),
          Effect.andThen(Effect.suspend(() => (awaitingSlot ? notifier.wakeLocal("invoices") : Effect.void)))
        )

      yield* Effect.addFinalizer(() =>
        Effect.timeoutOption(FiberSet.awaitEmpty(inProgress), Duration.millis(stopWithinMs))
      )

      const iterate = Effect.fnUntraced(function* (woken: boolean) {
        if (!woken && (yield* Clock.currentTimeMillis) < dueAt) return { sleepUntil: dueAt }
        const availableSlots = concurrency - (yield* FiberSet.size(inProgress))
        awaitingSlot = true
        if (availableSlots <= 0) return { sleepUntil: Infinity }
        const claim = queue.claim({ limit: availableSlots, leaseMs })
        const { invoices, nextDueAt } = yield* EngineMetrics.timed(EngineMetrics.claimDuration("invoices"), claim)
        awaitingSlot = false
        dueAt = Math.min(nextDueAt ?? Infinity, (yield* Clock.currentTimeMillis) + notifier.pollIntervalMs())
        for (const invoice of invoices) yield* FiberSet.run(inProgress, inBackground(invoice))
        return { sleepUntil: dueAt }
      })

      yield* WorkerLoop.run({ kind: "invoices", iterate, notifier })
    })
  )
