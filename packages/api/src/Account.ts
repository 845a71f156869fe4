/**
 * The records of accounts and tokens.
 *
 * @since 0.1.0
 */
import { Ids, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"
import * as Fields from "./Fields.ts"

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
}).annotate({ identifier: "Account", description: "An account owns organizations and logs in." })

/**
 * Type of a decoded `Account`.
 *
 * @category models
 * @since 0.1.0
 */
export type Account = typeof Account.Type

/**
 * The request to create an account.
 *
 * @category models
 * @since 0.1.0
 */
export const NewAccount = Schema.Struct({ email: Fields.email, password: Fields.password }).annotate({
  identifier: "NewAccount"
})

/**
 * The request to log in.
 *
 * @category models
 * @since 0.1.0
 */
export const Credentials = Schema.Struct({ email: Fields.text(1, 254), password: Fields.text(1, 128) }).annotate({
  identifier: "Credentials"
})

/**
 * The tokens that a login or a refresh returns.
 *
 * @category models
 * @since 0.1.0
 */
export const TokenPair = Schema.Struct({
  access_token: Schema.String.annotate({ description: "A JWT for `Authorization: Bearer`." }),
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int.annotate({ description: "The lifetime of the access token, in seconds." }),
  refresh_token: Schema.String.annotate({ description: "Opaque. Valid for one refresh." }),
  refresh_expires_in: Schema.Int.annotate({ description: "The lifetime of the refresh token, in seconds." })
}).annotate({ identifier: "TokenPair", description: "An access token, and the refresh token for the next one." })

/**
 * Type of a decoded `TokenPair`.
 *
 * @category models
 * @since 0.1.0
 */
export type TokenPair = typeof TokenPair.Type
