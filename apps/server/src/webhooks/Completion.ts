/** The result of an attempt, as written to the delivery. */
import type { DeliveryState, Ids } from "@govoice/core"

/** The result of an attempt, as written to the delivery. It releases the lease. */
export interface Completion {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly event_id: Ids.EventId
  readonly fencing_token: number
  readonly status: DeliveryState.Status
  readonly attempt_count: number
  /** Whether the attempt interrupted the quarantine process. */
  readonly interrupted?: boolean
  readonly last_attempted_at: string | null
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly next_retry_at: string | null
  readonly delivered_at: string | null
  readonly updated_at: string
}
