/**
 * Calls the gateway with what is next for a claimed invoice, and returns the transition that its answer leads to.
 *
 * @since 0.1.0
 */
import { Clock, Effect, Random } from "effect"
import type { InvoiceGateway } from "./gateway/InvoiceGateway.ts"
import type { ClaimedInvoice, Transition } from "./ClaimedInvoice.ts"
import * as InvoiceTransitions from "./InvoiceTransitions.ts"

/**
 * The time and the randomness for a transition.
 *
 * @category getters
 * @since 0.1.0
 */
export const context = Effect.all({ now: Clock.currentTimeMillis, random: Random.next })

/**
 * Submits the invoice, polls for its verdict, or requests its receipt, by its status.
 *
 * @category combinators
 * @since 0.1.0
 */
export const callGateway = (gateway: InvoiceGateway, invoice: ClaimedInvoice): Effect.Effect<Transition> => {
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
