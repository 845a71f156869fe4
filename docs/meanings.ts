/**
 * One line for every status. A new one does not compile without its line.
 */
import type { DeliveryState, InvoiceState } from "../packages/core/src/index.ts"

export const invoiceStatuses: { readonly [S in InvoiceState.Status]: string } = {
  queued: "stored, waiting for a worker",
  submitting: "a worker has claimed it and is sending it",
  retrying:
    "an attempt failed with a retryable error, or was interrupted; `next_attempt_at` is the time of the next, `failure` has the reason",
  submitted: "the national system has received it and has not decided yet",
  accepted: "the official number is assigned; the receipt (UPO) may follow",
  rejected: "the national system refused it; `rejection` has the reason",
  failed:
    "processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an operator ended it; `failure` has the reason"
}

export const deliveryStatuses: { readonly [S in DeliveryState.Status]: string } = {
  pending: "available, not yet attempted",
  delivering: "a worker has claimed it and is sending it",
  succeeded: "the endpoint returned a 2xx status",
  retrying: "an attempt failed with a retryable error, or was interrupted; `next_retry_at` is the time of the next",
  failed: "it will not be delivered; `last_error_summary` has the reason",
  endpoint_disabled: "the endpoint was disabled or deleted before sending"
}
