/** The pages of the deliveries of one endpoint. Each reads a bounded number of rows. */
import type { DeliveryState, Ids, InvoiceEvent } from "@govoice/core"
import type { SqlClient, Statement } from "effect/sql"
import * as Page from "../database/Page.ts"

/** Which deliveries to list. */
export interface DeliveryFilter {
  readonly status?: DeliveryState.Status | undefined
  readonly eventType?: InvoiceEvent.EventType | undefined
  readonly eventId?: string | undefined
}

/** The columns of the record. */
export interface DeliveryRow {
  readonly id: Ids.DeliveryId
  readonly event_id: Ids.EventId
  readonly event_type: InvoiceEvent.EventType
  readonly endpoint_id: Ids.EndpointId
  readonly status: DeliveryState.Status
  readonly attempt_count: number
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly next_retry_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_attempted_at: Date | null
  readonly delivered_at: Date | null
}

/** A row of a page. */
export type PageRow = DeliveryRow & Page.Examined

// These statuses have an index of their own.
const hasFailureStatus = (status: DeliveryState.Status | undefined): boolean =>
  status === "retrying" || status === "failed" || status === "endpoint_disabled"

/** Makes the function that returns the statement of a page. */
export const makeDeliveryPages = (sql: SqlClient.SqlClient) => {
  const columns = sql`
    id, event_id, event_type, endpoint_id, status, attempt_count, last_http_status, last_error_summary,
    next_retry_at, created_at, updated_at, last_attempted_at, delivered_at
  `
  const nothing = sql``

  const hasStatus = (status: DeliveryState.Status | undefined): Statement.Fragment =>
    status === undefined
      ? nothing
      : hasFailureStatus(status)
        ? sql`AND failure_status = ${status}`
        : sql`AND status = ${status}`

  // Claims take the oldest that are due, so the leased ones are among them, and as many as are counted end the search. More
  // that are older become due only by a promotion that is larger than `maxExamined`, and then for the time of a lease.
  const isLeased = (endpointId: Statement.Fragment, maxExamined: number) => sql`
    AND id = ANY (ARRAY(
      SELECT id FROM (
        SELECT id, lease_expires_at FROM deliveries
        WHERE is_due AND endpoint_id = ${endpointId} ORDER BY endpoint_id, due_at LIMIT ${maxExamined}::int
      ) AS oldest
      WHERE lease_expires_at IS NOT NULL
      LIMIT coalesce((
        SELECT (in_flight ->> webhook_endpoints.id)::int
        FROM webhook_endpoints JOIN organization_concurrency USING (organization_id)
        WHERE webhook_endpoints.id = ${endpointId}
      ), 0)
    ))
  `

  // An index finds the deliveries of the filter, or few.
  const indexed = (
    endpointId: Statement.Fragment,
    { eventId, eventType, status }: DeliveryFilter,
    page: Page.PageRequest,
    maxExamined: number
  ) => sql`
    SELECT NULL::text AS last_examined, ${columns} FROM deliveries
    WHERE endpoint_id = ${endpointId} ${hasStatus(status)}
      ${status === "delivering" ? isLeased(endpointId, maxExamined) : nothing}
      ${eventId === undefined ? nothing : sql`AND event_id = ${eventId}`}
      ${eventType === undefined ? nothing : sql`AND event_type = ${eventType}`}
      ${Page.bounds(sql, page)}
    ORDER BY id DESC LIMIT ${page.limit + 1}
  `

  // The newest deliveries are examined, those of the status if it has an index: an index of event types, or of pending or
  // succeeded deliveries, would cost each a write. Deliveries that are pending are due: if few are due, they are examined.
  const examined = (
    endpointId: Statement.Fragment,
    { eventType, status }: DeliveryFilter,
    page: Page.PageRequest,
    maxExamined: number
  ) => {
    const isPending = status === "pending" ? sql`true` : sql`false`
    return sql`
      WITH due AS MATERIALIZED (
        SELECT id FROM deliveries
        WHERE is_due AND endpoint_id = ${endpointId} AND ${isPending}
        ORDER BY endpoint_id, due_at LIMIT ${maxExamined}::int
      ), newest AS MATERIALIZED (
        SELECT id FROM deliveries
        WHERE endpoint_id = ${endpointId} ${hasFailureStatus(status) ? hasStatus(status) : nothing} ${Page.bounds(sql, page)}
          AND (NOT ${isPending} OR (SELECT count(*) FROM due) = ${maxExamined}::int)
        ORDER BY endpoint_id DESC, id DESC LIMIT ${maxExamined}::int
      ), found AS MATERIALIZED (
        SELECT ${columns} FROM deliveries
        WHERE endpoint_id = ${endpointId} ${hasStatus(status)}
          ${eventType === undefined ? nothing : sql`AND event_type = ${eventType}`}
          ${Page.bounds(sql, page)}
          AND id = ANY (ARRAY(
            SELECT id FROM newest
            UNION ALL
            SELECT id FROM due WHERE (SELECT count(*) FROM due) < ${maxExamined}::int
          ))
        ORDER BY id DESC LIMIT ${page.limit + 1}
      )
      SELECT last_examined, found.*
      FROM (SELECT CASE count(*) WHEN ${maxExamined}::int THEN min(id) END AS last_examined FROM newest) AS examination
      LEFT JOIN found ON true
      ORDER BY id DESC
    `
  }

  return {
    columns,
    /** The statement of a page of the deliveries of the endpoint that the expression returns. */
    page: (
      endpointId: Statement.Fragment,
      filter: DeliveryFilter,
      page: Page.PageRequest,
      maxExamined: number
    ): Statement.Fragment => {
      const { eventId, eventType, status } = filter
      const isExamined = status === "pending" || status === "succeeded" || eventType !== undefined
      return isExamined && eventId === undefined && status !== "delivering"
        ? examined(endpointId, filter, page, maxExamined)
        : indexed(endpointId, filter, page, maxExamined)
    }
  }
}
