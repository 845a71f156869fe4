/**
 * The records of webhook endpoints.
 *
 * @since 0.1.0
 */
import { Ids, InvoiceEvent, Mode, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

const fields = {
  id: Ids.schema("we"),
  object: Schema.Literal("webhook_endpoint"),
  organization_id: Ids.schema("org"),
  url: Schema.String,
  description: Schema.NullOr(Schema.String),
  event_types: Schema.Array(Schema.Union([Schema.Literal("*"), InvoiceEvent.EventType])),
  enabled: Schema.Boolean,
  disabled_reason: Schema.NullOr(Schema.Literal("failing")).annotate({
    description:
      "Why the server switched the endpoint off: `failing`, after days in which every delivery failed. Null while it is on, or if its owner switched it off."
  }),
  failing_since: Schema.NullOr(Timestamp.Timestamp).annotate({
    description:
      "The time of the first attempt that failed since the last one that succeeded. Null if the newest known attempt succeeded, and after the endpoint is switched on or off."
  }),
  standard_webhooks: Schema.Boolean.annotate({
    description: "Whether requests also carry the headers of Standard Webhooks."
  }),
  modes: Schema.Array(Mode.Mode).annotate({ description: "The modes whose events it receives." }),
  headers: Schema.Array(Schema.String).annotate({
    description: "The names of the endpoint's own headers, which requests carry. No response contains their values."
  }),
  max_in_flight: Schema.NullOr(Schema.Int).annotate({
    description: "How many requests may be under way to it at once. Null to use the organization's limit."
  }),
  next_secret_at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "The time from which a new signing secret signs. Null unless a rotation is pending."
  }),
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp
}

const secret = Schema.String.annotate({
  description:
    "The signing secret, `whsec_…`. The whole string is the HMAC key of `Gov-Signature`; the base64 after `whsec_` is the key of Standard Webhooks. Only this response contains it."
})

/**
 * The record of a webhook endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookEndpoint = Schema.Struct(fields).annotate({
  identifier: "WebhookEndpoint",
  description: "A URL that receives events."
})

/**
 * Type of a decoded `WebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookEndpoint = typeof WebhookEndpoint.Type

/**
 * The record of a new endpoint with its signing secret.
 *
 * @category models
 * @since 0.1.0
 */
export const NewWebhookEndpoint = Schema.Struct({ ...fields, secret }).annotate({
  identifier: "NewWebhookEndpoint",
  description: "A new webhook endpoint with its signing secret."
})

/**
 * Type of a decoded `NewWebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type NewWebhookEndpoint = typeof NewWebhookEndpoint.Type

/**
 * The record of an endpoint after a rotation, with the new secret.
 *
 * @category models
 * @since 0.1.0
 */
export const RotatedWebhookEndpoint = Schema.Struct({
  ...fields,
  secret,
  secret_activates_at: Timestamp.Timestamp.annotate({
    description: "The time from which the new secret signs. Until then, the old one signs."
  })
}).annotate({
  identifier: "RotatedWebhookEndpoint",
  description: "A webhook endpoint with its new signing secret."
})

/**
 * Type of a decoded `RotatedWebhookEndpoint`.
 *
 * @category models
 * @since 0.1.0
 */
export type RotatedWebhookEndpoint = typeof RotatedWebhookEndpoint.Type
