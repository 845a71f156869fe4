/**
 * What credentials open, remembered for a few seconds so that not every request asks the database.
 *
 * A revocation takes effect at once in the process that did it, and in every other when the memory fades.
 *
 * @since 0.1.0
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import { ApiKeys, type Grant } from "../store/ApiKeys.ts"
import { Logins } from "../store/Logins.ts"
import { AccessTokens, type Claims } from "./AccessTokens.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"

// What could not be looked up is not remembered: the database may be back for the next request.
const remembered = {
  capacity: 10_000,
  timeToLive: (exit: Exit.Exit<unknown>) => (Exit.isSuccess(exit) ? Duration.seconds(5) : Duration.zero)
}

/**
 * Service that judges credentials.
 *
 * @category services
 * @since 0.1.0
 */
export class Credentials extends Context.Service<
  Credentials,
  {
    /** `undefined` for a key that is malformed, unknown, revoked or expired. */
    readonly ofApiKey: (secret: string) => Effect.Effect<Grant | undefined>
    /** `undefined` for a token that is malformed, expired, or of a login that has ended. */
    readonly ofAccessToken: (token: string) => Effect.Effect<Claims | undefined>
    readonly forgetApiKey: (hash: Uint8Array) => Effect.Effect<void>
    readonly forgetLogin: (claims: Claims) => Effect.Effect<void>
  }
>()("@govoice/server/security/Credentials") {}

const keyOf = ({ accountId, loginId }: Claims): string => `${accountId} ${loginId}`

const fromKey = (key: string): Claims => {
  const [accountId, loginId] = key.split(" ") as [Claims["accountId"], string]
  return { accountId, loginId }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/**
 * Layer that provides `Credentials`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Credentials, never, AccessTokens | ApiKeys | Logins> = Layer.effect(
  Credentials,
  Effect.gen(function* () {
    const accessTokens = yield* AccessTokens
    const apiKeys = yield* ApiKeys
    const logins = yield* Logins

    const grants = yield* Cache.makeWith((hash: string) => apiKeys.findGrant(Buffer.from(hash, "hex")), remembered)
    const active = yield* Cache.makeWith((key: string) => logins.isActive(fromKey(key)), remembered)

    return {
      ofApiKey: Effect.fn("Credentials.ofApiKey")(function* (secret) {
        if (!ApiKeySecret.isWellFormed(secret)) return undefined
        const grant = yield* Cache.get(grants, hex(ApiKeySecret.hash(secret)))
        const now = yield* Clock.currentTimeMillis
        return grant === undefined || (grant.expiresAt !== null && grant.expiresAt <= now) ? undefined : grant
      }),

      ofAccessToken: Effect.fn("Credentials.ofAccessToken")(function* (token) {
        const claims = yield* accessTokens.read(token)
        if (claims === undefined) return undefined
        return (yield* Cache.get(active, keyOf(claims))) ? claims : undefined
      }),

      forgetApiKey: (hash) => Cache.invalidate(grants, hex(hash)),

      forgetLogin: (claims) => Cache.invalidate(active, keyOf(claims))
    }
  })
)
