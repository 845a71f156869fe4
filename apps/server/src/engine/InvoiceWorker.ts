/**
 * Takes invoices through a gateway: claims those that are due, asks, and writes down what the state machine makes of the
 * answer.
 *
 * @since 0.1.0
 */
import { type Invoice, InvoiceState, RetrySchedule } from "@govoice/core"
import { Clock, Effect, Layer, Result } from "effect"
import { type GatewayInvoice, type InvoiceGateway, InvoiceGateways, type Temporary } from "../gateway/InvoiceGateway.ts"
import { Settings } from "../settings/Settings.ts"
import { type ClaimedInvoice, InvoiceQueue, type Move } from "./InvoiceQueue.ts"
import * as Poller from "./Poller.ts"
import { Wakeups } from "./Wakeups.ts"

const batch = 50
const concurrency = 10

// How soon a gateway is asked again for a verdict or a receipt when it failed and did not say.
const askAgainMs = 30_000

const toGatewayInvoice = (invoice: ClaimedInvoice): GatewayInvoice => ({
  id: invoice.id,
  organizationId: invoice.organization_id,
  mode: invoice.mode,
  scenario: invoice.scenario,
  invoiceXml: invoice.xml,
  createdAt: invoice.created_at.getTime(),
  attempt: invoice.attempt_count,
  reference: invoice.reference
})

type Trigger = Exclude<InvoiceState.Trigger, "claim">

// A claimed invoice can always take what its gateway may answer: anything else is a mistake of ours.
const follow = (invoice: ClaimedInvoice, trigger: Trigger): Pick<Move, "status" | "emits"> => ({
  status: Result.getOrThrow(InvoiceState.next(invoice.status, trigger)),
  emits: InvoiceState.emits[trigger]
})

const stay = (invoice: ClaimedInvoice, dueAt: Date): Move => ({ status: invoice.status, emits: null, dueAt })

const afterMs = (now: number, milliseconds: number): Date => new Date(now + milliseconds)

const rejected = (invoice: ClaimedInvoice, now: number, rejection: Invoice.Reason): Move => ({
  ...follow(invoice, "reject"),
  dueAt: null,
  completedAt: new Date(now),
  rejection,
  failure: null
})

const failed = (invoice: ClaimedInvoice, now: number, failure: Invoice.Reason): Move => ({
  ...follow(invoice, "fail"),
  dueAt: null,
  completedAt: new Date(now),
  failure
})

const retrying = (invoice: ClaimedInvoice, now: number, answer: Temporary): Move => {
  const wait =
    answer.retryAfterMs ??
    RetrySchedule.nextWait({ attempt: invoice.attempt_count, random: Math.random() })
  if (wait === undefined) return failed(invoice, now, answer.reason)
  const at = afterMs(now, wait)
  return { ...follow(invoice, "retry"), dueAt: at, nextAttemptAt: at, failure: answer.reason }
}

const submit = Effect.fnUntraced(function* (gateway: InvoiceGateway, invoice: ClaimedInvoice) {
  const answer = yield* gateway.submit(toGatewayInvoice(invoice))
  const now = yield* Clock.currentTimeMillis
  switch (answer._tag) {
    case "Submitted":
      return {
        ...follow(invoice, "submit"),
        dueAt: afterMs(now, answer.pollAfterMs),
        submittedAt: new Date(now),
        reference: answer.reference,
        failure: null
      } satisfies Move
    case "Ambiguous": {
      const at = afterMs(now, answer.retryAfterMs)
      return {
        ...follow(invoice, "retry"),
        dueAt: at,
        nextAttemptAt: at,
        reference: answer.reference,
        failure: answer.reason
      } satisfies Move
    }
    case "Rejected":
      return rejected(invoice, now, answer.reason)
    case "Temporary":
      return retrying(invoice, now, answer)
    case "Permanent":
      return failed(invoice, now, answer.reason)
  }
})

const poll = Effect.fnUntraced(function* (gateway: InvoiceGateway, invoice: ClaimedInvoice) {
  const answer = yield* gateway.poll(toGatewayInvoice(invoice))
  const now = yield* Clock.currentTimeMillis
  switch (answer._tag) {
    case "Pending":
      return stay(invoice, afterMs(now, answer.pollAfterMs))
    case "Accepted":
      return {
        ...follow(invoice, "accept"),
        dueAt: afterMs(now, answer.receiptAfterMs),
        completedAt: new Date(now),
        officialNumber: answer.officialNumber
      } satisfies Move
    case "Rejected":
      return rejected(invoice, now, answer.reason)
    case "Temporary":
      return stay(invoice, afterMs(now, answer.retryAfterMs ?? askAgainMs))
    case "Permanent":
      return failed(invoice, now, answer.reason)
  }
})

const fetchReceipt = Effect.fnUntraced(function* (gateway: InvoiceGateway, invoice: ClaimedInvoice) {
  const answer = yield* gateway.receipt(toGatewayInvoice(invoice))
  const now = yield* Clock.currentTimeMillis
  switch (answer._tag) {
    case "Available":
      return { ...follow(invoice, "receipt"), dueAt: null, receipt: answer.xml } satisfies Move
    case "NotYet":
      return stay(invoice, afterMs(now, answer.retryAfterMs))
    case "Temporary":
      return stay(invoice, afterMs(now, answer.retryAfterMs ?? askAgainMs))
    case "Permanent":
      return { status: invoice.status, emits: null, dueAt: null } satisfies Move
  }
})

const ask = (gateway: InvoiceGateway, invoice: ClaimedInvoice): Effect.Effect<Move> => {
  switch (invoice.status) {
    case "submitted":
      return poll(gateway, invoice)
    case "accepted":
      return fetchReceipt(gateway, invoice)
    default:
      return submit(gateway, invoice)
  }
}

/**
 * Layer that runs the invoice worker for as long as it lives.
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

      const advance = Effect.fn("InvoiceWorker.advance")(
        function* (invoice: ClaimedInvoice) {
          yield* Effect.annotateCurrentSpan({ invoiceId: invoice.id })
          const gateway = gateways[invoice.mode]
          // The gateway was taken out of the deployment: the lease brings the invoice back.
          if (gateway === undefined) return
          const move = yield* ask(gateway, invoice)
          const moved = yield* queue.move(invoice, move)
          if (moved && move.emits !== null) yield* wakeups.wake("deliveries")
        },
        (effect, invoice) =>
          Effect.catchCause(effect, (cause) =>
            Effect.logError("An invoice could not be moved on; its lease will bring it back", cause).pipe(
              Effect.annotateLogs({ invoiceId: invoice.id })
            )
          )
      )

      const round = Effect.gen(function* () {
        const claimed = yield* queue.claim(batch, leaseMs)
        yield* Effect.forEach(claimed, advance, { concurrency, discard: true })
        return claimed.length === batch
      })

      yield* Poller.run({ kind: "invoices", round, nextDueAfter: queue.nextDueAfter, wakeups })
    })
  )
