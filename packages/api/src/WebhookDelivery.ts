/**
 * Delivery records: what became of one event at one endpoint.
 *
 * @since 0.1.0
 */
import { DeliveryState, Ids, InvoiceEvent, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The record of one event sent to one endpoint, across all attempts. Sanitized: nothing that a receiver said is in it.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookDelivery = Schema.Struct({
  id: Ids.schema("wd").annotate({ description: "Not for de-duplication: use `event_id`." }),
  object: Schema.Literal("webhook_delivery"),
  event_id: Ids.schema("evt"),
  event_type: InvoiceEvent.EventType,
  endpoint_id: Ids.schema("we"),
  status: DeliveryState.Status,
  attempt_count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "Outbound attempts made."
  }),
  last_http_status: Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))).annotate({
    description: "The last HTTP status received; null for failures of the connection and before the first attempt."
  }),
  last_error_summary: Schema.NullOr(Schema.String).annotate({ description: "A sentence of ours; null on success." }),
  next_retry_at: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "When a retrying delivery is sent next." }),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  last_attempted_at: Schema.NullOr(Timestamp.Timestamp),
  delivered_at: Schema.NullOr(Timestamp.Timestamp)
}).annotate({ identifier: "WebhookDelivery", description: "What became of one event at one endpoint." })

/**
 * Type of a decoded `WebhookDelivery`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookDelivery = typeof WebhookDelivery.Type
