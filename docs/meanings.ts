/**
 * One line on every status and event type. A status or a type that is added does not compile until it has its line.
 */
import type { DeliveryState, InvoiceEvent, InvoiceState } from "../packages/core/src/index.ts"

export const invoiceStatuses: { readonly [S in InvoiceState.Status]: string } = {
  queued: "stored, waiting for a worker",
  submitting: "a worker holds it and talks to the gateway",
  retrying: "the gateway failed for a while; `next_attempt_at` and `failure` say when it goes on, and why",
  submitted: "the national system has it and is deciding",
  accepted: "it has its official number; the receipt (UPO) may still arrive",
  rejected: "the national system refused it; `rejection` says why",
  failed: "no verdict after all attempts; `failure` says why"
}

export const deliveryStatuses: { readonly [S in DeliveryState.Status]: string } = {
  pending: "planned, not yet attempted",
  delivering: "a worker has claimed it and is sending it",
  succeeded: "the endpoint answered with a 2xx status",
  retrying: "an attempt failed in a way that may pass; `next_retry_at` holds the time of the next",
  failed: "it will not be delivered; `last_error_summary` says why",
  endpoint_disabled: "the endpoint was disabled or deleted before sending"
}

export const eventTypes: { readonly [T in InvoiceEvent.EventType]: string } = {
  "invoice.received": "the invoice is stored and queued; the `201` answers for both",
  "invoice.submitted": "the national system has the invoice",
  "invoice.accepted": "it was accepted and has its official number",
  "invoice.upo_available": "the official receipt (UPO) can be downloaded",
  "invoice.rejected": "the national system refused it",
  "invoice.failed": "there is no verdict after all attempts"
}
