/**
 * Authenticates bearer credentials. Results are cached for a few seconds, so that not every request is a query.
 *
 * A revocation takes effect at once in the process that did it, and in every other when its cache entry expires.
 */
import { Cache, Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { AccessTokens, type SessionIdentity } from "./AccessTokens.ts"
import { type ApiKeyIdentity, ApiKeys } from "./ApiKeys.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import { Directory } from "../cells/Directory.ts"
import { cacheOptions } from "../database/cacheOptions.ts"
import * as SlidingWindows from "../limits/SlidingWindows.ts"
import { Sessions } from "./Sessions.ts"
import { SlidingWindowStore } from "../limits/SlidingWindows.ts"
import * as Slots from "../limits/Slots.ts"
import { byWindow, failWhileWaiting, type Throttled } from "../limits/Throttled.ts"
import * as TraceContext from "../observability/TraceContext.ts"

const keptIdentities = cacheOptions(10_000, Duration.seconds(5))

/** How many unknown API keys a minute allows from one network. */
export const maxUnknownKeys = 100

/** Authenticates API keys and access tokens. */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    /**
     * Returns `undefined` for a key that is malformed, unknown, revoked or expired. Fails in place of that after too many unknown
     * keys from the network: a valid key is looked up first, and never counts.
     */
    readonly authenticateApiKey: (
      secret: string,
      network: string
    ) => Effect.Effect<ApiKeyIdentity | undefined, Throttled>
    /** Returns `undefined` for a token that is malformed, expired, or of a session that has ended. */
    readonly authenticateAccessToken: (token: string) => Effect.Effect<SessionIdentity | undefined>
    readonly invalidateApiKey: (hash: Uint8Array) => Effect.Effect<void>
    readonly invalidateSession: (session: SessionIdentity) => Effect.Effect<void>
  }
>()("@govoice/server/accounts/Authenticator") {}

const toKey = ({ accountId, sessionId }: SessionIdentity): string => `${accountId} ${sessionId}`

const fromKey = (key: string): SessionIdentity => {
  const [accountId, sessionId] = key.split(" ") as [SessionIdentity["accountId"], string]
  return { accountId, sessionId }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

// Keys from a network with too many unknown ones are looked up one at a time: a valid one among them is served.
const lookupsOfGuesser = {
  slots: Infinity,
  slotsPerGroup: 1,
  maxWaiting: Infinity,
  maxWaitingPerGroup: 1000,
  maxWaitMs: 5000
}

/** Provides `Authenticator`. */
export const layer: Layer.Layer<Authenticator, never, AccessTokens | ApiKeys | Sessions | SlidingWindowStore> =
  Layer.effect(
    Authenticator,
    Effect.gen(function* () {
      const accessTokens = yield* AccessTokens
      const apiKeys = yield* ApiKeys
      const sessions = yield* Sessions
      const windows = yield* SlidingWindowStore
      const unknownKeyLimit = { name: "api-key", limit: maxUnknownKeys, windowMs: 60_000 }
      const unknownKeys = SlidingWindows.makeForNetworks(windows, unknownKeyLimit)

      const inTurn = Slots.make(lookupsOfGuesser)
      const lookUpInTurn = <A, E>(network: string, lookup: Effect.Effect<A, E>) =>
        Effect.catchTag(inTurn.run(network)(lookup), "NoSlot", () =>
          Effect.flatMap(unknownKeys.wait(network), (waitMs) => Effect.fail(byWindow(unknownKeyLimit, waitMs)))
        )
      const identities = yield* Cache.makeWith(
        (hash: string) => apiKeys.findIdentity(Buffer.from(hash, "hex")),
        keptIdentities
      )
      const directory = yield* Directory
      const isActive = Effect.fnUntraced(function* (session: SessionIdentity) {
        const found = yield* sessions.isActive(session)
        if (found || directory === undefined) return found
        yield* directory.awaitSession(session.sessionId)
        return yield* sessions.isActive(session)
      })
      const active = yield* Cache.makeWith((key: string) => isActive(fromKey(key)), keptIdentities)

      const query = Effect.fnUntraced(function* (hash: string, network: string) {
        const lookup = Cache.get(identities, hash)
        const identity = yield* (yield* unknownKeys.wait(network)) === 0 ? lookup : lookUpInTurn(network, lookup)
        if (identity === undefined) yield* Effect.flatMap(unknownKeys.take(network), failWhileWaiting(unknownKeyLimit))
        return identity
      })

      return {
        authenticateApiKey: Effect.fnUntraced(function* (secret, network) {
          if (!ApiKeySecret.isWellFormed(secret)) return undefined
          const hash = hex(ApiKeySecret.hash(secret))
          const cached = yield* Cache.getOption(identities, hash)
          const identity = Option.isSome(cached) ? cached.value : yield* query(hash, network)
          const now = yield* Clock.currentTimeMillis
          return identity === undefined || (identity.expiresAt !== null && identity.expiresAt <= now)
            ? undefined
            : identity
        }, TraceContext.withSpan("Authenticator.authenticateApiKey")),

        authenticateAccessToken: Effect.fn("Authenticator.authenticateAccessToken")(function* (token) {
          const session = yield* accessTokens.verify(token)
          if (session === undefined) return undefined
          return (yield* Cache.get(active, toKey(session))) ? session : undefined
        }),

        invalidateApiKey: (hash) => Cache.invalidate(identities, hex(hash)),

        invalidateSession: (session) => Cache.invalidate(active, toKey(session))
      }
    })
  )
