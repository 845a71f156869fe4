/**
 * Accounts: who owns organizations and logs in.
 *
 * @since 0.1.0
 */
import { Ids, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The record of an account.
 *
 * @category models
 * @since 0.1.0
 */
export const Account = Schema.Struct({
  id: Ids.schema("acct"),
  object: Schema.Literal("account"),
  email: Schema.String,
  created_at: Timestamp.Timestamp
}).annotate({ identifier: "Account", description: "Who owns organizations and logs in." })

/**
 * Type of a decoded `Account`.
 *
 * @category models
 * @since 0.1.0
 */
export type Account = typeof Account.Type

/**
 * What a login or a refresh returns.
 *
 * @category models
 * @since 0.1.0
 */
export const TokenPair = Schema.Struct({
  access_token: Schema.String.annotate({ description: "A JWT for `Authorization: Bearer`." }),
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int.annotate({ description: "How long the access token is valid, in seconds." }),
  refresh_token: Schema.String.annotate({ description: "Opaque; good for one refresh." }),
  refresh_expires_in: Schema.Int.annotate({ description: "How long the refresh token is valid, in seconds." })
}).annotate({ identifier: "TokenPair", description: "A short-lived access token and the refresh token for the next." })

/**
 * Type of a decoded `TokenPair`.
 *
 * @category models
 * @since 0.1.0
 */
export type TokenPair = typeof TokenPair.Type
