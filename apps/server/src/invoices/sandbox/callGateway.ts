/** Sends the next request of a claimed invoice to the gateway, and returns the transition for its response. */
import { Clock, Effect, Random } from "effect"
import type { InvoiceGateway } from "./gateway/InvoiceGateway.ts"
import type { ClaimedInvoice, InvoiceTransition } from "../ClaimedInvoice.ts"
import * as InvoiceTransitions from "./InvoiceTransitions.ts"

/** The time and the randomness for a transition. */
export const context = Effect.all({ now: Clock.currentTimeMillis, random: Random.next })

/** Submits the invoice, polls for its verdict, or requests its receipt, by its status. */
export const callGateway = (gateway: InvoiceGateway, invoice: ClaimedInvoice): Effect.Effect<InvoiceTransition> => {
  const request = InvoiceTransitions.toGatewayInvoice(invoice)
  switch (invoice.status) {
    case "submitted":
      return Effect.zipWith(gateway.poll(request), context, (answer, at) =>
        InvoiceTransitions.afterPoll(invoice, answer, at)
      )
    case "accepted":
      return Effect.zipWith(gateway.receipt(request), context, (answer, at) =>
        InvoiceTransitions.afterReceipt(invoice, answer, at)
      )
    default:
      return Effect.zipWith(gateway.submit(request), context, (answer, at) =>
        InvoiceTransitions.afterSubmission(invoice, answer, at)
      )
  }
}
