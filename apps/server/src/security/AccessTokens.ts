/**
 * Access tokens: JWTs (RFC 7519) signed with HMAC-SHA256, good for fifteen minutes.
 *
 * The algorithm is the server's choice alone: what a token says of itself does not count.
 *
 * @since 0.1.0
 */
import { Ids } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { jwtVerify, SignJWT } from "jose"
import { randomUUID } from "node:crypto"

/**
 * How long an access token is good for, in seconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const lifetime = 900

/**
 * Whose token it is, and of which login.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claims {
  readonly accountId: Ids.AccountId
  readonly loginId: string
}

/**
 * Service that issues and reads access tokens.
 *
 * @category services
 * @since 0.1.0
 */
export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly issue: (claims: Claims) => Effect.Effect<string>
    /** `undefined` for whatever is not a token of ours that is still good. */
    readonly read: (token: string) => Effect.Effect<Claims | undefined>
  }
>()("@govoice/server/security/AccessTokens") {}

const parties = { issuer: "govoice", audience: "govoice/control-plane" }

/**
 * Layer that provides `AccessTokens` signed with this secret.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (secret: string): Layer.Layer<AccessTokens> => {
  const key = new TextEncoder().encode(secret)

  return Layer.succeed(AccessTokens)({
    issue: ({ accountId, loginId }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const seconds = Math.floor(now / 1000)
        return Effect.promise(() =>
          new SignJWT({ sid: loginId })
            .setProtectedHeader({ alg: "HS256", typ: "JWT" })
            .setSubject(accountId)
            .setIssuer(parties.issuer)
            .setAudience(parties.audience)
            .setIssuedAt(seconds)
            .setExpirationTime(seconds + lifetime)
            .setJti(randomUUID())
            .sign(key)
        )
      }),

    read: (token) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.promise(async () => {
          const verified = await jwtVerify(token, key, {
            ...parties,
            algorithms: ["HS256"],
            currentDate: new Date(now),
            requiredClaims: ["sub", "sid", "exp", "iat", "jti"]
          }).catch(() => undefined)
          const { sid, sub } = verified?.payload ?? {}
          return typeof sid === "string" && typeof sub === "string" && Ids.is("acct", sub)
            ? { accountId: sub, loginId: sid }
            : undefined
        })
      )
  })
}
