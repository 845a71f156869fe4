/** The pages of the deliveries of one endpoint, or of all endpoints of an organization. Each reads a bounded number of rows. */
import type { DeliveryState, Ids, InvoiceEvent } from "@govoice/core"
import type { SqlClient, Statement } from "effect/sql"
import * as Page from "../database/Page.ts"
import { maxEndpoints } from "./WebhookEndpoints.ts"

/** Which deliveries to list. */
export interface DeliveryFilter {
  readonly status?: DeliveryState.Status | undefined
  readonly eventType?: InvoiceEvent.EventType | undefined
  readonly eventId?: string | undefined
  readonly invoiceId?: string | undefined
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

/**
 * Whether the deliveries of the filter are found in the order of an index, with or without others among them. The index of those
 * that are due, and that of an event, have another order.
 */
export const isOrdered = (filter: DeliveryFilter): boolean =>
  !isOfEvents(filter) && filter.status !== "pending" && filter.status !== "delivering"

/** Whether the deliveries of one event or invoice are asked for. */
export const isOfEvents = ({ eventId, invoiceId }: DeliveryFilter): boolean =>
  eventId !== undefined || invoiceId !== undefined

// An organization has at most twenty endpoints.
const maxExaminedOfEach = Page.maxExamined / 5

// These statuses have an index of their own.
const hasFailureStatus = (status: DeliveryState.Status | undefined): boolean =>
  status === "retrying" || status === "failed" || status === "endpoint_disabled"

/** Makes the functions that return the statement of a page. */
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

  const hasEventType = (eventType: InvoiceEvent.EventType | undefined): Statement.Fragment =>
    eventType === undefined ? nothing : sql`AND event_type = ${eventType}`

  // A delivery has the time of its event: the ten characters after the prefix of the identifier.
  const isOfTime = (time: Statement.Fragment) => sql`id >= 'wd_' || ${time} AND id < 'wd_' || ${time} || '~'`

  const timeOf = (id: string): string => id.slice(id.indexOf("_") + 1).slice(0, 10)

  const isOfEvent = (eventId: string | undefined): Statement.Fragment =>
    eventId === undefined ? nothing : sql`AND event_id = ${eventId} AND ${isOfTime(sql`${timeOf(eventId)}::text`)}`

  // An invoice has few events, none of them older than itself, and an event has one delivery for each endpoint.
  const fromDeliveries = (invoiceId: string | undefined, endpointId: Statement.Fragment): Statement.Fragment =>
    invoiceId === undefined
      ? sql`FROM deliveries`
      : sql`
          FROM (
            SELECT id AS event_of_invoice, substr(id, 5, 10) AS time FROM events
            WHERE invoice_id = ${invoiceId} AND id >= ${`evt_${timeOf(invoiceId)}`}
          ) AS event
          CROSS JOIN LATERAL (
            SELECT * FROM deliveries
            WHERE endpoint_id = ${endpointId} AND event_id = event_of_invoice AND ${isOfTime(sql`time`)}
            ORDER BY endpoint_id, id LIMIT 1
          ) AS delivery
        `

  // The newest deliveries of all the endpoints. Postgres merges ranges of an index that are each ordered and limited, and reads
  // of each no more than it needs. It reads the ranges of a lateral join to their ends.
  const newest = (
    endpointIds: ReadonlyArray<Statement.Fragment>,
    selected: Statement.Fragment,
    condition: Statement.Fragment,
    limit: number
  ) => {
    const ofEndpoint = (endpointId: Statement.Fragment) => sql`(
      SELECT ${selected} FROM deliveries WHERE endpoint_id = ${endpointId} ${condition}
      ORDER BY id DESC LIMIT ${limit}::int
    )`
    return sql`
      SELECT ${selected} FROM (${sql.join(" UNION ALL ", false)(endpointIds.map(ofEndpoint))}) AS of_endpoints
      ORDER BY id DESC LIMIT ${limit}::int
    `
  }

  // The newest deliveries are examined until the page is full, those of the status if it has an index: an index of event
  // types, or of succeeded deliveries, would cost each a write. `last_examined` is read only for a page that is short.
  const ordered = (
    endpointIds: ReadonlyArray<Statement.Fragment>,
    { eventType, status }: DeliveryFilter,
    page: Page.PageRequest
  ) => {
    const isIndexed = status === undefined || hasFailureStatus(status)
    const condition = sql`${isIndexed ? hasStatus(status) : nothing} ${Page.bounds(sql, page)}`
    if (isIndexed && eventType === undefined) {
      return sql`
        SELECT NULL::text AS last_examined, newest.*
        FROM (${newest(endpointIds, columns, condition, page.limit + 1)}) AS newest
      `
    }
    return sql`
      WITH found AS MATERIALIZED (
        SELECT ${columns} FROM (${newest(endpointIds, columns, condition, Page.maxExamined)}) AS newest
        WHERE true ${isIndexed ? nothing : hasStatus(status)} ${hasEventType(eventType)}
        ORDER BY id DESC LIMIT ${page.limit + 1}
      )
      SELECT found.*, CASE WHEN (SELECT count(*) FROM found) <= ${page.limit}::int THEN (
        SELECT id FROM (${newest(endpointIds, sql`id`, condition, Page.maxExamined)}) AS newest
        ORDER BY id DESC OFFSET ${Page.maxExamined - 1}::int
      ) END AS last_examined
      FROM (SELECT) AS one LEFT JOIN found ON true
      ORDER BY id DESC
    `
  }

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

  // The deliveries of events are few, and found by their time; others by those that are leased.
  const indexed = (
    endpointId: Statement.Fragment,
    filter: DeliveryFilter,
    page: Page.PageRequest,
    maxExamined: number
  ) => sql`
    SELECT NULL::text AS last_examined, ${columns} ${fromDeliveries(filter.invoiceId, endpointId)}
    WHERE endpoint_id = ${endpointId} ${hasStatus(filter.status)}
      ${isOfEvents(filter) ? isOfEvent(filter.eventId) : isLeased(endpointId, maxExamined)}
      ${hasEventType(filter.eventType)}
      ${Page.bounds(sql, page)}
    ORDER BY id DESC LIMIT ${page.limit + 1}
  `

  // Deliveries that are pending are due. If few are due, they are examined; if many, the newest of all are.
  const pending = (
    endpointId: Statement.Fragment,
    { eventType, status }: DeliveryFilter,
    page: Page.PageRequest,
    maxExamined: number
  ) => sql`
    WITH due AS MATERIALIZED (
      SELECT id FROM deliveries WHERE is_due AND endpoint_id = ${endpointId}
      ORDER BY endpoint_id, due_at LIMIT ${maxExamined}::int
    ), newest AS MATERIALIZED (
      SELECT id FROM deliveries
      WHERE endpoint_id = ${endpointId} ${Page.bounds(sql, page)} AND (SELECT count(*) FROM due) = ${maxExamined}::int
      ORDER BY endpoint_id DESC, id DESC LIMIT ${maxExamined}::int
    ), found AS MATERIALIZED (
      SELECT ${columns} FROM deliveries
      WHERE endpoint_id = ${endpointId} ${hasStatus(status)} ${hasEventType(eventType)} ${Page.bounds(sql, page)}
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

  const unordered = (
    endpointId: Statement.Fragment,
    filter: DeliveryFilter,
    page: Page.PageRequest,
    maxExamined: number
  ): Statement.Fragment =>
    filter.status === "pending" && !isOfEvents(filter)
      ? pending(endpointId, filter, page, maxExamined)
      : indexed(endpointId, filter, page, maxExamined)

  return {
    columns,

    /** The page of one endpoint. */
    ofEndpoint: (id: Ids.EndpointId, filter: DeliveryFilter, page: Page.PageRequest) =>
      sql<PageRow>`${
        isOrdered(filter) ? ordered([sql`${id}`], filter, page) : unordered(sql`${id}`, filter, page, Page.maxExamined)
      }`,

    /** The page of an organization, if the filter is ordered. */
    ofOrganization: (id: Ids.OrganizationId, filter: DeliveryFilter, page: Page.PageRequest) => {
      const endpointIds = Array.from(
        { length: maxEndpoints },
        (_, n) => sql`(SELECT ids[${sql.literal(`${n + 1}`)}] FROM endpoints)`
      )
      return sql<PageRow>`
        WITH endpoints AS MATERIALIZED (
          SELECT array_agg(id) AS ids FROM webhook_endpoints WHERE organization_id = ${id} AND deleted_at IS NULL
        )
        SELECT * FROM (${ordered(endpointIds, filter, page)}) AS page ORDER BY id DESC
      `
    },

    /** A page of each endpoint of an organization. */
    ofEachEndpoint: (id: Ids.OrganizationId, filter: DeliveryFilter, page: Page.PageRequest) => sql<
      PageRow & { readonly page_endpoint_id: Ids.EndpointId }
    >`
      SELECT endpoint.id AS page_endpoint_id, page.*
      FROM webhook_endpoints AS endpoint
      CROSS JOIN LATERAL (${unordered(sql`endpoint.id`, filter, page, maxExaminedOfEach)}) AS page
      WHERE endpoint.organization_id = ${id} AND deleted_at IS NULL
      ORDER BY endpoint.id DESC, page.id DESC
    `
  }
}
