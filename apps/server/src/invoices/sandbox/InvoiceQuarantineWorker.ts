/** Processes invoices in quarantine, one at a time, each in the quarantine process. */
import { Effect, Layer } from "effect"
import { Notifier } from "../../jobs/Notifier.ts"
import * as Interruptions from "../../jobs/Interruptions.ts"
import * as QuarantineLoop from "../../jobs/QuarantineLoop.ts"
import { QuarantineInterruption, type QuarantineProcess } from "../../jobs/QuarantineProcess.ts"
import * as RetryingBatcher from "../../jobs/RetryingBatcher.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import * as TraceContext from "../../observability/TraceContext.ts"
import { Settings } from "../../settings/Settings.ts"
import { callGateway, context } from "./callGateway.ts"
import { InvoiceGateways } from "./gateway/InvoiceGateway.ts"
import type { ClaimedInvoice, PendingTransition } from "../ClaimedInvoice.ts"
import { InvoiceQueue } from "./InvoiceQueue.ts"
import * as InvoiceTransitions from "./InvoiceTransitions.ts"
import * as QuarantineGateway from "./QuarantineGateway.ts"

/** Layer that runs the worker. */
export const layer: Layer.Layer<
  never,
  never,
  InvoiceGateways | InvoiceQueue | Notifier | QuarantineProcess | Settings
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* InvoiceQueue
    const notifier = yield* Notifier
    const { leaseMs, webhooks } = yield* Settings
    const gateway = yield* QuarantineGateway.make((yield* InvoiceGateways).test)

    const write = RetryingBatcher.retrying<PendingTransition, boolean>({
      name: "invoice transitions in quarantine",
      retryForMs: leaseMs,
      write: queue.transition
    })

    const onInterruption = Effect.fnUntraced(function* (invoice: ClaimedInvoice, { message }: QuarantineInterruption) {
      const transition = InvoiceTransitions.afterInterruption(invoice, yield* context)
      yield* Effect.logError(
        invoice.quarantine_interruption_count + 1 >= Interruptions.maxInQuarantine
          ? `Invoice stopped: it interrupted the quarantine process ${Interruptions.maxInQuarantine} times`
          : "Invoice interrupted the quarantine process; will retry",
        message
      )
      return transition
    })

    const advance = Effect.fnUntraced(
      function* (invoice: ClaimedInvoice) {
        const transition = yield* TraceContext.under(callGateway(gateway, invoice), invoice.traceparent).pipe(
          Effect.catchDefect((defect) =>
            defect instanceof QuarantineInterruption ? onInterruption(invoice, defect) : Effect.die(defect)
          )
        )
        const [isWritten] = yield* write([{ invoice, transition }])
        yield* EngineMetrics.countTransition(transition.status, isWritten === true)
        if (transition.emits !== null) yield* notifier.wake("deliveries", [invoice.organization_id])
      },
      (effect, { id }) => Effect.annotateLogs(effect, { invoiceId: id })
    )

    yield* QuarantineLoop.run({
      name: "invoices",
      claim: Effect.map(
        queue.claimQuarantined({ limit: 1, leaseMs: leaseMs + QuarantineLoop.startMs }),
        ([invoice]) => invoice
      ),
      process: advance,
      stopWithinMs: webhooks.timeoutMs + 4000
    })
  })
)
