/**
 * The record of a delivery.
 *
 * @since 0.1.0
 */
import { DeliveryState, Ids, InvoiceEvent, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The record of the delivery of one event to one endpoint, across all attempts. It contains no text of the receiver.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookDelivery = Schema.Struct({
  id: Ids.schema("wd").annotate({ description: "Not for deduplication: use `event_id`." }),
  object: Schema.Literal("webhook_delivery"),
  event_id: Ids.schema("evt"),
  event_type: InvoiceEvent.EventType,
  endpoint_id: Ids.schema("we"),
  status: DeliveryState.Status,
  attempt_count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "The number of attempts."
  }),
  last_http_status: Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))).annotate({
    description: "The HTTP status of the last attempt. Null if it got no response, and before the first attempt."
  }),
  last_error_summary: Schema.NullOr(Schema.String).annotate({
    description: "A sentence about the last failure. Null on success."
  }),
  next_retry_at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "The time of the next attempt. Null unless the delivery is retrying."
  }),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  last_attempted_at: Schema.NullOr(Timestamp.Timestamp),
  delivered_at: Schema.NullOr(Timestamp.Timestamp)
}).annotate({ identifier: "WebhookDelivery", description: "The delivery of one event to one endpoint." })

/**
 * Type of a decoded `WebhookDelivery`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookDelivery = typeof WebhookDelivery.Type
