/** The filters of a list of deliveries, as the records and the cursors take them. */
import type { DeliveryState, InvoiceEvent } from "@govoice/core"

/** The query parameters that filter deliveries. */
export interface DeliveryQuery {
  readonly status?: DeliveryState.Status
  readonly event_type?: InvoiceEvent.EventType
  readonly event_id?: string
  readonly invoice_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** Returns the filters beside the time. */
export const filterOf = ({
  event_id: eventId,
  event_type: eventType,
  invoice_id: invoiceId,
  status
}: DeliveryQuery) => ({
  eventId,
  eventType,
  invoiceId,
  status
})

/**
 * Returns the filters that go into the cursor. A new filter comes last and only if it is set: servers of two versions accept the
 * cursors of each other during a rolling update.
 */
export const filterNames = (query: DeliveryQuery) => [
  query.status,
  query.event_type,
  query.event_id,
  query.created_after,
  query.created_before,
  ...(query.invoice_id === undefined ? [] : [query.invoice_id])
]
