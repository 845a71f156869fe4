/**
 * The answers of KSeF about limits, and those of its beacon. Unknown members are ignored.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { nullable } from "./Fields.ts"

const SessionLimits = Schema.Struct({
  maxInvoiceSizeInMB: Schema.Int,
  maxInvoiceWithAttachmentSizeInMB: Schema.Int,
  maxInvoices: Schema.Int
})

/**
 * `contextLimits`: sizes in megabytes of 1,000,000 bytes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContextLimits = Schema.Struct({ onlineSession: SessionLimits, batchSession: SessionLimits })

/**
 * `rateLimits`: by group, which may be new ones. A negative number means no limit.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RateLimits = Schema.Record(
  Schema.String,
  Schema.Struct({ perSecond: Schema.Int, perMinute: Schema.Int, perHour: Schema.Int })
)

/**
 * The beacon (Latarnia): `AVAILABLE`, `MAINTENANCE`, `FAILURE`, `TOTAL_FAILURE`, or another word. It has been wrong
 * itself, so it explains an outage and decides nothing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Beacon = Schema.Struct({
  status: Schema.String,
  messages: nullable(Schema.Array(Schema.Struct({ title: nullable(Schema.String), text: nullable(Schema.String) })))
})

/**
 * What the beacon has announced. Each message is about an event: `FAILURE_START` begins one of the category `FAILURE` or
 * `TOTAL_FAILURE`, and `FAILURE_END` ends it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const BeaconMessages = Schema.Array(
  Schema.Struct({
    eventId: Schema.Int,
    category: Schema.String,
    type: Schema.String,
    start: Schema.String,
    end: nullable(Schema.String)
  })
)
