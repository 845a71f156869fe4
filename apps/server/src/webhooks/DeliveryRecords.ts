/** Reads the records of deliveries for their owner. Only the engine writes them. */
import type { WebhookDelivery } from "@govoice/api"
import { type DeliveryState, Ids, type InvoiceEvent } from "@govoice/core"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { iso, isoOrNull } from "../database/timestamps.ts"
import * as Page from "../database/Page.ts"

/** Which deliveries to list. */
export interface DeliveryFilter {
  readonly status?: DeliveryState.Status | undefined
  readonly eventId?: string | undefined
}

/** The endpoint has no such delivery. */
export class DeliveryNotFound extends Data.TaggedError("DeliveryNotFound") {}

/** Service that reads the deliveries of an endpoint. The caller checks the owner of the endpoint. */
export class Deliveries extends Context.Service<
  Deliveries,
  {
    readonly list: (
      organizationId: Ids.OrganizationId,
      endpointId: Ids.EndpointId,
      filter: DeliveryFilter,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<WebhookDelivery.WebhookDelivery>>
    readonly find: (
      endpointId: Ids.EndpointId,
      id: string
    ) => Effect.Effect<WebhookDelivery.WebhookDelivery, DeliveryNotFound>
  }
>()("@govoice/server/webhooks/Deliveries") {}

// These statuses have an index of their own.
const hasFailureStatus = (status: DeliveryState.Status): boolean =>
  status === "retrying" || status === "failed" || status === "endpoint_disabled"

interface DeliveryRow {
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

const toApi = (row: DeliveryRow): WebhookDelivery.WebhookDelivery => ({
  id: row.id,
  object: "webhook_delivery",
  event_id: row.event_id,
  event_type: row.event_type,
  endpoint_id: row.endpoint_id,
  status: row.status,
  attempt_count: row.attempt_count,
  last_http_status: row.last_http_status,
  last_error_summary: row.last_error_summary,
  next_retry_at: isoOrNull(row.next_retry_at),
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  last_attempted_at: isoOrNull(row.last_attempted_at),
  delivered_at: isoOrNull(row.delivered_at)
})

/** Layer that provides `Deliveries` from a migrated database. */
export const layer: Layer.Layer<Deliveries, never, SqlClient.SqlClient> = Layer.effect(
  Deliveries,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tail = yield* Page.makeTail
    const columns = sql`
      id, event_id, event_type, endpoint_id, status, attempt_count, last_http_status, last_error_summary,
      next_retry_at, created_at, updated_at, last_attempted_at, delivered_at
    `

    // Claims take the oldest that are due, so the leased ones are among them. More that are older become due only by a
    // promotion that is larger than `maxExamined`, and then for the time of a lease.
    const isLeased = (endpointId: Ids.EndpointId) => sql`
      id = ANY (ARRAY(
        SELECT id FROM (
          SELECT id, lease_expires_at FROM deliveries
          WHERE is_due AND endpoint_id = ${endpointId} ORDER BY endpoint_id, due_at LIMIT ${Page.maxExamined}::int
        ) AS oldest
        WHERE lease_expires_at IS NOT NULL
      ))
    `

    // Deliveries that are pending are due: if few are due, all of them are examined. Otherwise the newest of any status are,
    // because an index of pending or succeeded deliveries would cost each a write.
    const selectExamined = (
      organizationId: Ids.OrganizationId,
      endpointId: Ids.EndpointId,
      status: "pending" | "succeeded",
      { after, limit }: Page.PageRequest
    ) => sql<DeliveryRow & Page.Examined>`
      WITH due AS MATERIALIZED (
        SELECT id FROM deliveries
        WHERE is_due AND endpoint_id = ${endpointId} AND ${status}::text = 'pending'
        ORDER BY endpoint_id, due_at LIMIT ${Page.maxExamined}::int
      ), newest AS MATERIALIZED (
        SELECT id FROM deliveries
        WHERE endpoint_id = ${endpointId} ${after === undefined ? sql`` : sql`AND id < ${after}`}
          AND (${status}::text <> 'pending' OR (SELECT count(*) FROM due) = ${Page.maxExamined}::int)
        ORDER BY endpoint_id DESC, id DESC LIMIT ${Page.maxExamined}::int
      ), found AS MATERIALIZED (
        SELECT ${columns} FROM deliveries
        WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId} AND status = ${status}
          ${after === undefined ? sql`` : sql`AND id < ${after}`}
          AND id = ANY (ARRAY(
            SELECT id FROM newest
            UNION ALL
            SELECT id FROM due WHERE (SELECT count(*) FROM due) < ${Page.maxExamined}::int
          ))
        ORDER BY id DESC LIMIT ${limit + 1}
      )
      SELECT last_examined, found.*
      FROM (SELECT CASE count(*) WHEN ${Page.maxExamined}::int THEN min(id) END AS last_examined FROM newest) AS examination
      LEFT JOIN found ON true
      ORDER BY id DESC
    `

    const selectPage = (
      organizationId: Ids.OrganizationId,
      endpointId: Ids.EndpointId,
      { eventId, status }: DeliveryFilter,
      page: Page.PageRequest
    ) => sql<DeliveryRow>`
      SELECT ${columns} FROM deliveries
      WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId}
        ${status === undefined ? sql`` : hasFailureStatus(status) ? sql`AND failure_status = ${status}` : sql`AND status = ${status}`}
        ${status === "delivering" ? sql`AND ${isLeased(endpointId)}` : sql``}
        ${eventId === undefined ? sql`` : sql`AND event_id = ${eventId}`}
        ${tail(page)}
    `

    const selectOne = (endpointId: Ids.EndpointId, id: Ids.DeliveryId) => sql<DeliveryRow>`
      SELECT ${columns} FROM deliveries WHERE endpoint_id = ${endpointId} AND id = ${id}
    `

    return {
      find: Effect.fn("Deliveries.find")(function* (endpointId, id) {
        const [row] = Ids.is("wd", id) ? yield* Effect.orDie(selectOne(endpointId, id)) : []
        return row === undefined ? yield* new DeliveryNotFound() : toApi(row)
      }),

      list: Effect.fn("Deliveries.list")(function* (organizationId, endpointId, filter, page) {
        const { eventId, status } = filter
        if (eventId === undefined && (status === "pending" || status === "succeeded")) {
          const rows = yield* Effect.orDie(selectExamined(organizationId, endpointId, status, page))
          return Page.fromExamined(rows, page, toApi)
        }
        const cannotExist = eventId !== undefined && !Ids.is("evt", eventId)
        const rows = cannotExist ? [] : yield* Effect.orDie(selectPage(organizationId, endpointId, filter, page))
        return Page.fromRows(rows, page, toApi)
      })
    }
  })
)
