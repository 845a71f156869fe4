/**
 * The event types and the event record, which is the body of a webhook request.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Ids from "./Ids.ts"
import { Invoice } from "./Invoice.ts"
import { Mode } from "./Mode.ts"
import { Timestamp } from "./Timestamp.ts"

/**
 * The event types.
 *
 * **Details**
 *
 * - `invoice.received`: the invoice is stored.
 * - `invoice.submitted`: the national system has it.
 * - `invoice.accepted`: an official number is assigned.
 * - `invoice.upo_available`: the official receipt can be downloaded.
 * - `invoice.rejected`: the national system rejected it.
 * - `invoice.failed`: processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an
 *   operator ended it.
 *
 * @category models
 * @since 0.1.0
 */
export const EventType = Schema.Literals([
  "invoice.received",
  "invoice.submitted",
  "invoice.accepted",
  "invoice.upo_available",
  "invoice.rejected",
  "invoice.failed"
])

/**
 * Type of a decoded `EventType`.
 *
 * @category models
 * @since 0.1.0
 */
export type EventType = typeof EventType.Type

/**
 * The body of a webhook request: an event with the invoice as of its transition.
 *
 * @category models
 * @since 0.1.0
 */
export const InvoiceEvent = Schema.Struct({
  id: Ids.schema("evt"),
  object: Schema.Literal("event"),
  type: EventType,
  mode: Mode,
  created_at: Timestamp,
  data: Schema.Struct({ invoice: Invoice })
}).annotate({ identifier: "Event", description: "The raw JSON body of a webhook request." })

/**
 * Type of a decoded `InvoiceEvent`.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceEvent = typeof InvoiceEvent.Type

/**
 * Returns whether an endpoint with these subscriptions receives events of `type`. `"*"` subscribes to all types, also to
 * types added later.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSubscribed = (subscriptions: ReadonlyArray<string>, type: EventType): boolean =>
  subscriptions.includes("*") || subscriptions.includes(type)
