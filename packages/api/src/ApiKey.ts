/**
 * The records of API keys.
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
  last4: Schema.String.annotate({ description: "The last four characters of the key." }),
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
  description: "An API key. Only its hash is stored."
})

/**
 * Type of a decoded `ApiKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type ApiKey = typeof ApiKey.Type

/**
 * The record of a new API key, the only one that contains the key.
 *
 * @category models
 * @since 0.1.0
 */
export const NewApiKey = Schema.Struct({
  ...fields,
  secret: Schema.String.annotate({
    description: "The key, `sk_test_…` or `sk_live_…`. Only this response contains it."
  })
}).annotate({ identifier: "NewApiKey", description: "A new API key with its secret." })

/**
 * Type of a decoded `NewApiKey`.
 *
 * @category models
 * @since 0.1.0
 */
export type NewApiKey = typeof NewApiKey.Type

/**
 * The API key of the request and its organization.
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
    description: "Whether live keys of this organization can submit."
  })
}).annotate({ identifier: "Me", description: "The API key of the request and its organization." })

/**
 * Type of a decoded `Me`.
 *
 * @category models
 * @since 0.1.0
 */
export type Me = typeof Me.Type
