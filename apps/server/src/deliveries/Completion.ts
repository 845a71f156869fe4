/** The result of an attempt, as written to the delivery. */
import type { DeliveryState, Ids } from "@govoice/core"
import { Effect } from "effect"

/** The result of an attempt, as written to the delivery. It releases the lease. */
export interface Completion {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly event_id: Ids.EventId
  readonly fencing_token: number
  readonly status: DeliveryState.Status
  readonly attempt_count: number
  /** What the attempt says about its endpoint: slow after a timeout or without a connection, steady after any answer, null if nothing was sent. */
  readonly pace: "slow" | "steady" | null
  /** Whether the endpoint took the delivery. Null if the attempt says nothing about its endpoint. */
  readonly works: boolean | null
  readonly last_attempted_at: string | null
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly next_retry_at: string | null
  readonly updated_at: string
}

/**
 * Logs the end of a delivery, once its completion is written. A delivery that succeeds at once is logged at the level `Debug`:
 * at thousands a second, the log would cost as much as the deliveries.
 */
export const logEnd = (completion: Completion): Effect.Effect<void> => {
  const { attempt_count, endpoint_id, event_id, id, last_error_summary, status } = completion
  if (status === "retrying") return Effect.void
  const isFirstSuccess = status === "succeeded" && attempt_count <= 1
  return Effect.annotateLogs(isFirstSuccess ? Effect.logDebug("Delivery ended") : Effect.logInfo("Delivery ended"), {
    deliveryId: id,
    eventId: event_id,
    endpointId: endpoint_id,
    status,
    attempts: attempt_count,
    ...(last_error_summary === null ? {} : { reason: last_error_summary })
  })
}
