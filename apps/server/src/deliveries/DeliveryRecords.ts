/** Reads the records of deliveries for their owner. Only the engine writes them. */
import type { WebhookDelivery } from "@govoice/api"
import { Ids } from "@govoice/core"
import { Context, Data, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { iso, isoOrNull } from "../database/timestamps.ts"
import { LateRead } from "../database/Replica.ts"
import * as Page from "../database/Page.ts"
import {
  type DeliveryFilter,
  type DeliveryRow,
  isOfEvents,
  isOrdered,
  makeDeliveryPages,
  type PageRow
} from "./deliveryPages.sql.ts"

/** The endpoint has no such delivery. */
export class DeliveryNotFound extends Data.TaggedError("DeliveryNotFound") {}

/** Service that reads the deliveries of an endpoint. The caller checks the owner of the endpoint. */
export class DeliveryRecords extends Context.Service<
  DeliveryRecords,
  {
    readonly list: (
      endpointId: Ids.EndpointId,
      filter: DeliveryFilter,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<WebhookDelivery.WebhookDelivery>>
    /** Lists the deliveries of all endpoints of an organization that are not deleted. The caller checks its owner. */
    readonly listAll: (
      organizationId: Ids.OrganizationId,
      filter: DeliveryFilter,
      page: Page.PageRequest
    ) => Effect.Effect<Page.Page<WebhookDelivery.WebhookDelivery>>
    readonly find: (
      endpointId: Ids.EndpointId,
      id: string
    ) => Effect.Effect<WebhookDelivery.WebhookDelivery, DeliveryNotFound>
  }
>()("@govoice/server/deliveries/DeliveryRecords") {}

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

// An identifier of another form belongs to nothing.
const isImpossible = ({ eventId, invoiceId }: DeliveryFilter): boolean =>
  (eventId !== undefined && !Ids.is("evt", eventId)) || (invoiceId !== undefined && !Ids.is("inv", invoiceId))

const nothing: Page.Page<never> = { records: [], hasMore: false }

const toPage = (rows: ReadonlyArray<PageRow>, page: Page.PageRequest) => Page.fromExamined(rows, page, toApi)

/** Layer that provides `DeliveryRecords` from a migrated database. */
export const layer: Layer.Layer<DeliveryRecords, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryRecords,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lateRead = yield* LateRead
    const { columns, ofEachEndpoint, ofEndpoint, ofOrganization } = makeDeliveryPages(sql)

    const selectOne = (endpointId: Ids.EndpointId, id: Ids.DeliveryId) => sql<DeliveryRow>`
      SELECT ${columns} FROM deliveries WHERE endpoint_id = ${endpointId} AND id = ${id}
    `

    // The deliveries of one event or invoice are read beside its record, which is that of the primary.
    const run = <A extends object>(filter: DeliveryFilter, statement: Statement.Statement<A>) =>
      Effect.orDie(isOfEvents(filter) ? statement : lateRead(statement))

    return {
      find: Effect.fn("DeliveryRecords.find")(function* (endpointId, id) {
        const [row] = Ids.is("wd", id) ? yield* Effect.orDie(selectOne(endpointId, id)) : []
        return row === undefined ? yield* new DeliveryNotFound() : toApi(row)
      }),

      list: Effect.fn("DeliveryRecords.list")(function* (endpointId, filter, page) {
        if (isImpossible(filter)) return nothing
        return toPage(yield* run(filter, ofEndpoint(endpointId, filter, page)), page)
      }),

      listAll: Effect.fn("DeliveryRecords.listAll")(function* (organizationId, filter, page) {
        if (isImpossible(filter)) return nothing
        if (isOrdered(filter)) return toPage(yield* run(filter, ofOrganization(organizationId, filter, page)), page)
        const rows = yield* run(filter, ofEachEndpoint(organizationId, filter, page))
        const pages = Map.groupBy(rows, (row) => row.page_endpoint_id)
        return Page.merge(
          [...pages.values()].map((rowsOfOne) => toPage(rowsOfOne, page)),
          page
        )
      })
    }
  })
)
