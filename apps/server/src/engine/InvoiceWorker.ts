/**
 * Takes invoices through a gateway: claims those that are due, asks, and writes down what the state machine makes of the
 * answer.
 *
 * @since 0.1.0
 */
import { Clock, Duration, Effect, FiberSet, Layer, Metric, Random } from "effect"
import { type InvoiceGateway, InvoiceGateways } from "../gateway/InvoiceGateway.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as Trace from "../observability/Trace.ts"
import { Settings } from "../settings/Settings.ts"
import * as Batcher from "./Batcher.ts"
import * as InvoiceMoves from "./InvoiceMoves.ts"
import { type ClaimedInvoice, InvoiceQueue, type Move, type Moving } from "./InvoiceQueue.ts"
import * as Poller from "./Poller.ts"
import { Wakeups } from "./Wakeups.ts"

// How many invoices a worker has in its hands. Each has its document with it, so this bounds memory, too.
const concurrency = 50

// What a stop waits for gateways to answer.
const stopWithinMs = 4000

const moment = Effect.all({ now: Clock.currentTimeMillis, random: Random.next })

const ask = (gateway: InvoiceGateway, invoice: ClaimedInvoice): Effect.Effect<Move> => {
  const told = InvoiceMoves.toGatewayInvoice(invoice)
  switch (invoice.status) {
    case "submitted":
      return Effect.zipWith(gateway.poll(told), moment, (answer, at) => InvoiceMoves.afterPoll(invoice, answer, at))
    case "accepted":
      return Effect.zipWith(gateway.receipt(told), moment, (answer, at) =>
        InvoiceMoves.afterReceipt(invoice, answer, at)
      )
    default:
      return Effect.zipWith(gateway.submit(told), moment, (answer, at) =>
        InvoiceMoves.afterSubmission(invoice, answer, at)
      )
  }
}

/**
 * Layer that runs the invoice worker for as long as it lives. When it closes it claims nothing more, and lets gateways
 * answer for a moment.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, InvoiceQueue | InvoiceGateways | Wakeups | Settings> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const queue = yield* InvoiceQueue
      const gateways = yield* InvoiceGateways
      const wakeups = yield* Wakeups
      const { leaseMs } = yield* Settings
      const write = yield* Batcher.make<Moving, boolean>({
        name: "moves of invoices",
        patienceMs: leaseMs,
        write: queue.move
      })
      const inHand = yield* FiberSet.make()

      // When an invoice is due, as far as this worker knows, and whether a place that is freed is waited for.
      let dueAt = 0
      let placeWanted = true

      const advance = Effect.fn("InvoiceWorker.advance")(function* (invoice: ClaimedInvoice) {
        yield* Effect.annotateCurrentSpan({ invoiceId: invoice.id, status: invoice.status })
        const gateway = gateways[invoice.mode]
        // The gateway was taken out of the deployment: the lease brings the invoice back.
        if (gateway === undefined) return
        const move = yield* ask(gateway, invoice)
        const moved = yield* write({ invoice, move })
        if (moved !== true) return yield* Metric.update(EngineMetrics.leasesLost("invoices"), 1)
        yield* Metric.update(EngineMetrics.invoiceMoves(move.status), 1)
        yield* Effect.logDebug("An invoice moved on").pipe(
          Effect.annotateLogs({ invoiceId: invoice.id, from: invoice.status, to: move.status })
        )
        if (move.emits !== null) yield* wakeups.wake("deliveries")
        if (move.dueAt !== null && move.dueAt.getTime() < dueAt) {
          dueAt = move.dueAt.getTime()
          yield* wakeups.nudge("invoices")
        }
      })

      const inBackground = (invoice: ClaimedInvoice) =>
        Trace.under(advance(invoice), invoice.trace).pipe(
          Effect.catchCause((cause) =>
            Effect.logError("An invoice could not be moved on; its lease will bring it back", cause).pipe(
              Effect.annotateLogs({ invoiceId: invoice.id })
            )
          ),
          Effect.andThen(Effect.suspend(() => (placeWanted ? wakeups.wakeHere("invoices") : Effect.void)))
        )

      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(inHand), Duration.millis(stopWithinMs)))

      const round = Effect.fnUntraced(function* (woken: boolean) {
        if (!woken && (yield* Clock.currentTimeMillis) < dueAt) return { restUntil: dueAt }
        const free = concurrency - (yield* FiberSet.size(inHand))
        placeWanted = true
        if (free <= 0) return { restUntil: Infinity }
        const claim = queue.claim({ limit: free, leaseMs })
        const { invoices, nextDueAt } = yield* EngineMetrics.timed(EngineMetrics.claimSeconds("invoices"), claim)
        placeWanted = false
        dueAt = Math.min(nextDueAt ?? Infinity, (yield* Clock.currentTimeMillis) + Poller.sweepMs)
        for (const invoice of invoices) yield* FiberSet.run(inHand, inBackground(invoice))
        return { restUntil: dueAt }
      })

      yield* Poller.run({ kind: "invoices", round, wakeups })
    })
  )
