/**
 * Access tokens: JWTs (RFC 7519) signed with HMAC-SHA256, valid for fifteen minutes.
 *
 * The server alone decides the algorithm; the `alg` header of a token is never trusted.
 */
import { Ids } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { jwtVerify, SignJWT } from "jose"
import { randomUUID } from "node:crypto"

/** The lifetime of an access token, in seconds. */
export const lifetime = 900

/** The account and the session that a token stands for. */
export interface SessionIdentity {
  readonly accountId: Ids.AccountId
  readonly sessionId: string
}

/** Issues and verifies access tokens. */
export class AccessTokens extends Context.Service<
  AccessTokens,
  {
    readonly issue: (session: SessionIdentity) => Effect.Effect<string>
    /** Returns `undefined` for a token that is malformed, expired or signed by somebody else. */
    readonly verify: (token: string) => Effect.Effect<SessionIdentity | undefined>
  }
>()("@govoice/server/accounts/AccessTokens") {}

const parties = { issuer: "govoice", audience: "govoice/control-plane" }

/** Provides `AccessTokens` signed with this secret. */
export const layer = (secret: string): Layer.Layer<AccessTokens> => {
  const key = new TextEncoder().encode(secret)

  return Layer.succeed(AccessTokens)({
    issue: ({ accountId, sessionId }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const seconds = Math.floor(now / 1000)
        return Effect.promise(() =>
          new SignJWT({ sid: sessionId })
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

    verify: (token) =>
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
            ? { accountId: sub, sessionId: sid }
            : undefined
        })
      )
  })
}
