/**
 * What is announced about an invoice: the six event types and the body that webhooks carry.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Ids from "./Ids.ts"
import { Invoice } from "./Invoice.ts"
import { Mode } from "./Mode.ts"
import { Timestamp } from "./Timestamp.ts"

/**
 * The six milestones that create an event.
 *
 * **Details**
 *
 * - `invoice.received`: the invoice is stored.
 * - `invoice.submitted`: the national system has it.
 * - `invoice.accepted`: an official number is assigned.
 * - `invoice.upo_available`: the official receipt can be downloaded.
 * - `invoice.rejected`: the national system refused it.
 * - `invoice.failed`: no verdict after all attempts.
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
 * The body of a webhook: an event with the invoice as it stood at that moment.
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
 * Tells which of the six types an endpoint hears of. `["*"]` stands for all of them, also for types added later.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSubscribed = (subscriptions: ReadonlyArray<string>, type: EventType): boolean =>
  subscriptions.includes("*") || subscriptions.includes(type)
