/**
 * The event types of an invoice.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The six event types.
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
