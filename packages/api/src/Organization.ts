/**
 * Organizations: what API keys, endpoints and invoices belong to.
 *
 * @since 0.1.0
 */
import { Ids, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The record of an organization. Its credential for the national system is never part of it.
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
  }).annotate({ description: "Whether a credential for the national system is stored, and since when." }),
  created_at: Timestamp.Timestamp
}).annotate({ identifier: "Organization", description: "What API keys, endpoints and invoices belong to." })

/**
 * Type of a decoded `Organization`.
 *
 * @category models
 * @since 0.1.0
 */
export type Organization = typeof Organization.Type
