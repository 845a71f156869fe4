/** A delivery that a worker has claimed. */
import type { Ids } from "@govoice/core"

/** A claimed delivery with everything that an attempt needs. */
export interface ClaimedDelivery {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly event_id: Ids.EventId
  readonly invoice_id: Ids.InvoiceId
  /** The fencing token of this claim. */
  readonly fencing_token: number
  /** The number of this attempt, from 1. */
  readonly attempt_count: number
  /** The time of the attempt before this one. */
  readonly last_attempted_at: Date | null
  /** The time since when it could be claimed. */
  readonly available_at: Date
  readonly body: string
  /** The trace context of the event. */
  readonly traceparent: string | null
  readonly url: string
  readonly endpoint_enabled: boolean
  /** Whether the endpoint takes one of the slots for slow ones. */
  readonly endpoint_slow: boolean
  /** Whether the request also carries the headers of Standard Webhooks. */
  readonly standard_webhooks: boolean
  /** The headers of the endpoint, sealed: see `EndpointHeaders`. */
  readonly headers: Uint8Array | null
  readonly secret: Uint8Array
  readonly next_secret: Uint8Array | null
  readonly next_secret_at: Date | null
}
