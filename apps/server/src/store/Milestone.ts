/**
 * Milestones in the lives of invoices, on their way into the database: the events, and for each one delivery to every
 * endpoint that is enabled and hears of it.
 *
 * Whatever moves an invoice records its milestones in the same statement, so that there is never one without the other.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import type { Ids, Invoice, InvoiceEvent } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as NewId from "../security/NewId.ts"

/**
 * A milestone that has an identifier and a body, but is not stored yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Milestone {
  readonly eventId: Ids.EventId
  /** All but the last character of it begin the identifiers of the deliveries. */
  readonly deliveryId: Ids.DeliveryId
  readonly organizationId: Ids.OrganizationId
  readonly invoiceId: Ids.InvoiceId
  readonly type: InvoiceEvent.EventType
  readonly at: Date
  /** The event as it is sent, byte for byte. */
  readonly body: string
  /** The trace that the milestone belongs to, as a `traceparent`. */
  readonly trace: string | null
}

/**
 * Makes the milestone of an invoice as it stands.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  type: InvoiceEvent.EventType,
  organizationId: Ids.OrganizationId,
  invoice: Invoice.Invoice,
  at: Date,
  trace: string | null = null
): Milestone => {
  const eventId = NewId.at("evt", at.getTime())
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
    deliveryId: NewId.at("wd", at.getTime()),
    organizationId,
    invoiceId: invoice.id,
    type,
    at,
    body: JSON.stringify(event),
    trace
  }
}

/**
 * Makes the function that writes milestones as three steps of a `WITH`: `milestone`, `event` and `planned`. They happen
 * for the invoices that the step named `moved` has the `id` of.
 *
 * **Gotchas**
 *
 * How many endpoints hear of an event is known to the database alone, so it makes the identifiers of the deliveries: the
 * last character of the one that it was given counts them. There are 32 characters, and fewer endpoints.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeSteps = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    (milestones: ReadonlyArray<Milestone>): Statement.Fragment =>
      sql`
      milestone AS MATERIALIZED (
        SELECT milestone.*
        FROM json_to_recordset(${PgTypes.json(milestones)}) AS milestone (
          "eventId" text, "deliveryId" text, "organizationId" text, "invoiceId" text, type text, at timestamptz,
          body text, trace text
        )
        JOIN moved ON moved.id = "invoiceId"
      ), event AS (
        INSERT INTO events (id, organization_id, invoice_id, created_at, type, body, trace)
        SELECT "eventId", "organizationId", "invoiceId", at, type, body, trace FROM milestone
      ), planned AS (
        INSERT INTO deliveries
          (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, ready, status)
        SELECT left("deliveryId", -1) || substr(
                 '0123456789abcdefghjkmnpqrstvwxyz',
                 (row_number() OVER (PARTITION BY "eventId" ORDER BY endpoint.id))::int, 1
               ),
               "organizationId", endpoint.id, "eventId", type, at, at, at, true, 'pending'
        FROM milestone JOIN webhook_endpoints AS endpoint ON endpoint.organization_id = "organizationId"
        WHERE endpoint.enabled AND endpoint.deleted_at IS NULL AND endpoint.event_types && ARRAY[type, '*']
        RETURNING 1
      )
    `
)
