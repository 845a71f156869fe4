/**
 * A milestone in the life of an invoice, on its way into the database: the event, and one delivery for each endpoint
 * that is enabled and hears of it.
 *
 * Whatever moves an invoice records its milestones in the same statement, so that there is never one without the other.
 *
 * @since 0.1.0
 */
import type { Ids, Invoice, InvoiceEvent } from "@govoice/core"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as NewId from "../security/NewId.ts"
import { textArray } from "./TextArray.ts"
import { maxEndpoints } from "./WebhookEndpoints.ts"

/**
 * A milestone that has an identifier and a body, but is not stored yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Milestone {
  readonly eventId: Ids.EventId
  readonly organizationId: Ids.OrganizationId
  readonly invoiceId: Ids.InvoiceId
  readonly type: InvoiceEvent.EventType
  readonly at: Date
  /** The event as it is sent, byte for byte. */
  readonly body: string
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
  at: Date
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
  return { eventId, organizationId, invoiceId: invoice.id, type, at, body: JSON.stringify(event) }
}

/**
 * Makes the function that writes a milestone as two steps of a `WITH`, `event` and `planned`, which happen only if the
 * step named `moved` has a row.
 *
 * **Gotchas**
 *
 * The number of endpoints is known to the database alone, so it gets as many delivery identifiers as there may be
 * endpoints, and takes what it needs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeSteps = Effect.map(
  SqlClient.SqlClient,
  (sql) =>
    ({ at, body, eventId, invoiceId, organizationId, type }: Milestone): Statement.Fragment => {
      const deliveryIds = Array.from({ length: maxEndpoints }, () => NewId.at("wd", at.getTime()))
      return sql`
        event AS (
          INSERT INTO events (id, organization_id, invoice_id, created_at, type, body)
          SELECT ${eventId}, ${organizationId}, ${invoiceId}, ${at}, ${type}, ${body} FROM moved
          RETURNING id
        ), planned AS (
          INSERT INTO deliveries
            (id, organization_id, endpoint_id, event_id, event_type, created_at, updated_at, due_at, status)
          SELECT (${textArray(deliveryIds)})[row_number() OVER ()],
                 ${organizationId}, endpoint.id, event.id, ${type}, ${at}, ${at}, ${at}, 'pending'
          FROM event, webhook_endpoints AS endpoint
          WHERE endpoint.organization_id = ${organizationId} AND endpoint.enabled AND endpoint.deleted_at IS NULL
            AND endpoint.event_types && ARRAY[${type}, '*']
          RETURNING 1
        )
      `
    }
)
