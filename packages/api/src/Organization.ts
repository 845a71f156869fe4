/**
 * The record of organizations, which own API keys, webhook endpoints and invoices.
 *
 * @since 0.1.0
 */
import { Ids, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The record of an organization. It does not contain the credential for the national system.
 *
 * @category models
 * @since 0.1.0
 */
export const Organization = Schema.Struct({
  id: Ids.schema("org"),
  object: Schema.Literal("organization"),
  name: Schema.String,
  gateway_credential: Schema.Struct({
    present: Schema.Boolean,
    updated_at: Schema.NullOr(Timestamp.Timestamp)
  }).annotate({ description: "Whether a credential for the national system is stored, and when it was stored." }),
  created_at: Timestamp.Timestamp
}).annotate({
  identifier: "Organization",
  description: "An organization owns API keys, webhook endpoints and invoices."
})

/**
 * Type of a decoded `Organization`.
 *
 * @category models
 * @since 0.1.0
 */
export type Organization = typeof Organization.Type
