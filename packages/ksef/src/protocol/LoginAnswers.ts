/**
 * The answers of KSeF during a login. Unknown members are ignored. Tokens are redacted.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Integer, nullable, Reference, Secret, Time } from "./Fields.ts"

/**
 * A status: its code, and Polish texts about it, which are for people.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Status = Schema.Struct({
  code: Integer,
  description: nullable(Schema.String),
  details: nullable(Schema.Array(Schema.String))
})

/**
 * A status as a value.
 *
 * @category models
 * @since 0.1.0
 */
export type Status = typeof Status.Type

/**
 * `publicKeys`: the keys to encrypt with. Times stay text, as `PublicKeys.select` takes them.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PublicKeys = Schema.Array(
  Schema.Struct({
    certificate: Schema.String,
    publicKeyId: Schema.String,
    usage: Schema.Array(Schema.String),
    validFrom: Schema.String,
    validTo: Schema.String
  })
)

/**
 * `challenge`. `timestampMs` goes into an encrypted token as it is; it also tells the clock of KSeF.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Challenge = Schema.Struct({
  challenge: Schema.String,
  timestampMs: Schema.Int,
  clientIp: nullable(Schema.String)
})

/**
 * A token and when it ends, in milliseconds since the epoch.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Token = Schema.Struct({ token: Secret, validUntil: Time })

/**
 * A token as a value.
 *
 * @category models
 * @since 0.1.0
 */
export type Token = typeof Token.Type

/**
 * `loginWithToken` and `loginWithXades`: a login that was begun. Its token authorizes `loginStatus` and `redeem`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const LoginStarted = Schema.Struct({ referenceNumber: Reference, authenticationToken: Token })

/**
 * `loginStatus`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const LoginStatus = Schema.Struct({ status: Status })

/**
 * `redeem`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tokens = Schema.Struct({ accessToken: Token, refreshToken: Token })

/**
 * `refresh`. The refresh token stays the same.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Refreshed = Schema.Struct({ accessToken: Token })
