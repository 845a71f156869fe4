/**
 * The outbox: events and their deliveries, written by the statement that creates or transitions the invoice, so that
 * neither exists without the other. An event has one delivery for each enabled endpoint that subscribes to its type and mode.
 */
import { PgTypes } from "@effect/sql-pg"
import { Ids, type Invoice, type InvoiceEvent, type Mode } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as IdGenerator from "../crypto/IdGenerator.ts"

/** An event that has its identifier and body, but is not stored yet. */
export interface OutboxEvent {
  readonly eventId: Ids.EventId
  /** The identifiers of the deliveries are this one with another last character. */
  readonly deliveryId: Ids.DeliveryId
  readonly organizationId: Ids.OrganizationId
  readonly invoiceId: Ids.InvoiceId
  readonly type: InvoiceEvent.EventType
  /** Only endpoints of this mode receive the event. */
  readonly mode: Mode.Mode
  readonly at: Date
  /** The event as it is sent, byte for byte. */
  readonly body: string
  /** The trace context of the request or transition, as W3C `traceparent`. */
  readonly traceparent: string | null
}

/** Makes an event with a snapshot of the invoice. */
export const make = (
  type: InvoiceEvent.EventType,
  organizationId: Ids.OrganizationId,
  invoice: Invoice.Invoice,
  at: Date,
  traceparent: string | null = null
): OutboxEvent => {
  const eventId = IdGenerator.at("evt", at.getTime(), organizationId)
  const event: InvoiceEvent.InvoiceEvent = {
    id: eventId,
    object: "event",
    type,
    mode: invoice.mode,
    created_at: at.toISOString(),
    data: { invoice }
  }
  return {
    eventId,
    deliveryId: IdGenerator.at("wd", at.getTime(), organizationId),
    organizationId,
    invoiceId: invoice.id,
    type,
    mode: invoice.mode,
    at,
    body: JSON.stringify(event),
    traceparent
  }
}

/** Selects the invoice of an event of the organization, as `invoice_id`. */
export const selectInvoiceId = (
  sql: Statement.Constructor,
  organizationId: Ids.OrganizationId,
  eventId: string
): Statement.Fragment => sql`
  SELECT invoice_id FROM events WHERE id = ${eventId} AND organization_id = ${organizationId}
`

/**
 * The identifier of a delivery: the one in the outbox, with its last character moved on by the row number. Only the database knows
 * the subscribed endpoints; an organization has at most 20, there are 32 characters, and beyond them the identifier is null, which the table refuses.
 */
const idByRowNumber = (sql: Statement.Constructor): Statement.Fragment => {
  const symbols = sql.literal(`'${Ids.alphabet}'`)
  const nth = sql`(row_number() OVER (PARTITION BY "eventId" ORDER BY endpoint.id))::int`
  return sql`
    left("deliveryId", -1) || substr(
      ${symbols}, CASE WHEN ${nth} <= 32 THEN 1 + (position(right("deliveryId", 1) IN ${symbols}) + ${nth}) % 32 END, 1
    )
  `
}

const stepsFrom =
  (sql: SqlClient.SqlClient) =>
  (source: Statement.Fragment): Statement.Fragment =>
    sql`
      outbox AS MATERIALIZED (
        SELECT outbox.* FROM (${source}) AS outbox JOIN transitioned ON transitioned.id = "invoiceId"
      ), inserted_event AS (
        INSERT INTO events (id, organization_id, invoice_id, type, body, traceparent)
        SELECT "eventId", "organizationId", "invoiceId", type, body, traceparent FROM outbox
      ), inserted_delivery AS (
        INSERT INTO deliveries
          (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, is_due, status)
        SELECT ${idByRowNumber(sql)}, "organizationId", endpoint.id, "eventId", type, at, at, at, true,
               'pending'
        FROM outbox JOIN webhook_endpoints AS endpoint ON endpoint.organization_id = "organizationId"
        WHERE endpoint.enabled AND endpoint.deleted_at IS NULL AND endpoint.event_types && ARRAY[type, '*']
          AND outbox.mode = ANY (endpoint.modes)
        RETURNING 1
      )
    `

/**
 * Makes the function that returns three steps of a `WITH`: `outbox`, `inserted_event` and `inserted_delivery`. They
 * write the events whose invoice the step named `transitioned` returned the `id` of.
 */
export const makeSteps = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    (events: ReadonlyArray<OutboxEvent>): Statement.Fragment =>
      stepsFrom(sql)(sql`
        SELECT * FROM json_to_recordset(${PgTypes.json(events)}) AS event (
          "eventId" text, "deliveryId" text, "organizationId" text, "invoiceId" text, type text, mode text,
          at timestamptz, body text, traceparent text
        )
      `)
)

/** The same for events of an earlier step: the function takes a `SELECT` of columns that have the names of `OutboxEvent`. */
export const makeStepsFrom = Effect.map(SqlClient.SqlClient, stepsFrom)
