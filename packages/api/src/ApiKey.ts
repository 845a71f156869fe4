/**
 * API keys: what integrations send, and what is shown of them.
 *
 * @since 0.1.0
 */
import { Ids, Mode, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

const fields = {
  id: Ids.schema("key"),
  object: Schema.Literal("api_key"),
  organization_id: Ids.schema("org"),
  mode: Mode.Mode,
  name: Schema.NullOr(Schema.String),
  last4: Schema.String.annotate({ description: "The last four characters of the key, to tell keys apart." }),
  created_at: Timestamp.Timestamp,
  expires_at: Schema.NullOr(Timestamp.Timestamp)
}

/**
 * The record of an API key.
 *
 * @category models
 * @since 0.1.0
 */
export const ApiKey = Schema.Struct(fields).annotate({
  identifier: "ApiKey",
  description: "A key for the developer API. The key itself is not stored."
})

/**
 * Type of a decoded `ApiKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type ApiKey = typeof ApiKey.Type

/**
 * The record of an API key that was just made: the only one that has the key itself.
 *
 * @category models
 * @since 0.1.0
 */
export const NewApiKey = Schema.Struct({
  ...fields,
  secret: Schema.String.annotate({ description: "The key itself, `sk_test_…` or `sk_live_…`. Shown this once." })
}).annotate({ identifier: "NewApiKey", description: "A key for the developer API, with the key itself." })

/**
 * Type of a decoded `NewApiKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type NewApiKey = typeof NewApiKey.Type

/**
 * Who the caller of the developer API is.
 *
 * @category models
 * @since 0.1.0
 */
export const Me = Schema.Struct({
  object: Schema.Literal("api_key"),
  id: Ids.schema("key"),
  mode: Mode.Mode,
  name: Schema.NullOr(Schema.String),
  last4: Schema.String,
  created_at: Timestamp.Timestamp,
  organization: Schema.Struct({
    id: Ids.schema("org"),
    object: Schema.Literal("organization"),
    name: Schema.String
  }),
  live_mode_available: Schema.Boolean.annotate({
    description: "Whether a live key of this organization could submit now."
  })
}).annotate({ identifier: "Me", description: "The API key that was sent, and its organization." })

/**
 * Type of a decoded `Me`.
 *
 * @category models
 * @since 0.1.0
 */
export type Me = typeof Me.Type
