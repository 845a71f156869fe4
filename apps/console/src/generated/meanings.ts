/**
 * The meanings of statuses, event types.
 *
 * Generated from docs/meanings.ts by `generate.ts`. Do not edit.
 */
/** The meaning of each status of an invoice. */
export const invoiceStatuses = {
  queued: "Stored, waiting for a worker.",
  submitting: "A worker has claimed it and is sending it.",
  retrying:
    "An attempt failed with a retryable error, or was interrupted; next_attempt_at is the time of the next, failure has the reason.",
  submitted: "The national system has received it and has not decided yet.",
  accepted: "The official number is assigned; the receipt (UPO) may follow.",
  rejected: "The national system refused it; rejection has the reason.",
  failed:
    "Processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an operator ended it; failure has the reason."
} as const

/** The meaning of each status of a delivery. */
export const deliveryStatuses = {
  pending: "Available, not yet attempted.",
  delivering: "A worker has claimed it and is sending it.",
  succeeded: "The endpoint returned a 2xx status.",
  retrying: "An attempt failed with a retryable error, or was interrupted; next_retry_at is the time of the next.",
  failed: "It will not be delivered; last_error_summary has the reason.",
  endpoint_disabled: "The endpoint was disabled or deleted before sending."
} as const

/** The meaning of each event type. */
export const eventTypes = {
  "invoice.received": "The invoice is stored and queued, before the 201.",
  "invoice.submitted": "The national system has the invoice.",
  "invoice.accepted": "The national system accepted it and assigned its official number.",
  "invoice.upo_available": "The official receipt (UPO) can be downloaded.",
  "invoice.rejected": "The national system refused it.",
  "invoice.failed":
    "Processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an operator ended it; failure has the reason."
} as const
