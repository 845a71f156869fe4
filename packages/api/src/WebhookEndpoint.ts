/**
 * Webhook endpoints: where events are sent.
 *
 * @since 0.1.0
 */
import { Ids, InvoiceEvent, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

const fields = {
  id: Ids.schema("we"),
  object: Schema.Literal("webhook_endpoint"),
  organization_id: Ids.schema("org"),
  url: Schema.String,
  description: Schema.NullOr(Schema.String),
  event_types: Schema.Array(Schema.Union([Schema.Literal("*"), InvoiceEvent.EventType])),
  enabled: Schema.Boolean,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp
}

const secret = Schema.String.annotate({
  description: "The signing secret, `whsec_…`. The whole string is the HMAC key. Shown this once."
})

/**
 * The record of a webhook endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookEndpoint = Schema.Struct(fields).annotate({
  identifier: "WebhookEndpoint",
  description: "An address that events are sent to."
})

/**
 * Type of a decoded `WebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/**
 * The record of an endpoint that was just made, with its signing secret.
 *
 * @category models
 * @since 0.1.0
 */
export const NewWebhookEndpoint = Schema.Struct({ ...fields, secret }).annotate({
  identifier: "NewWebhookEndpoint",
  description: "An address that events are sent to, with its signing secret."
})

/**
 * Type of a decoded `NewWebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type NewWebhookEndpoint = typeof NewWebhookEndpoint.Type

/**
 * The record of an endpoint whose secret was just rotated, with the new secret.
 *
 * @category models
 * @since 0.1.0
 */
export const RotatedWebhookEndpoint = Schema.Struct({
  ...fields,
  secret,
  secret_activates_at: Timestamp.Timestamp.annotate({
    description: "From when on the new secret signs. Until then the old one does."
  })
}).annotate({
  identifier: "RotatedWebhookEndpoint",
  description: "An address that events are sent to, with its next signing secret."
})

/**
 * Type of a decoded `RotatedWebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type RotatedWebhookEndpoint = typeof RotatedWebhookEndpoint.Type
