/**
 * Where the token buckets are kept: in this process, or in a Redis for all processes together.
 *
 * @since 0.1.0
 */
import { Clock, Duration, Effect, Layer, References } from "effect"
import { RateLimiter } from "effect/persistence"
import { Settings } from "../settings/Settings.ts"
import * as TokenBuckets from "./TokenBuckets.ts"

const reconnectMs = (retries: number): number => Math.min(50 * 2 ** retries, 2000)

// The store of Effect, but for its buckets, which it keeps for good.
const layerMemory = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => {
    const buckets = TokenBuckets.make()
    return {
      ...store,
      tokenBucket: ({ refillRate, ...taking }: Parameters<typeof store.tokenBucket>[0]) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          buckets.take({ ...taking, refillMs: Duration.toMillis(refillRate) }, now)
        )
    }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))

// A request is not kept waiting for its count: what is not counted in time is let through.
const patience = "250 millis"

const gaveUp = () =>
  new RateLimiter.RateLimiterError({
    reason: new RateLimiter.RateLimitStoreError({ message: "The store of the rate limits did not answer in time" })
  })

const withPatience = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => ({
    ...store,
    tokenBucket: (options: Parameters<typeof store.tokenBucket>[0]) =>
      Effect.timeoutOrElse(store.tokenBucket(options), { duration: patience, orElse: () => Effect.fail(gaveUp()) })
  }))
)

// Loaded only where it is wanted: the client of Redis is larger than the rest of the server.
const layerRedis = (url: string) =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@effect/platform-node/NodeRedis")),
      (NodeRedis) => {
        let wasConnected = false
        // Every attempt to come back would be a warning: who asks the store says that it is away, once in a while.
        const silent = Layer.succeed(References.MinimumLogLevel)("Error")
        const connection = NodeRedis.layer({
          url,
          disableOfflineQueue: true,
          socket: {
            connectTimeout: 5000,
            // A Redis that is not there when the server starts is a mistake in the settings. Later it is an outage.
            reconnectStrategy: (retries, cause) => (wasConnected ? reconnectMs(retries) : cause)
          }
        }).pipe(Layer.provide(silent))
        const store = RateLimiter.layerStoreRedis({ prefix: "govoice:ratelimit:" }).pipe(Layer.provide(connection))
        return withPatience.pipe(Layer.provide(Layer.tap(store, () => Effect.sync(() => void (wasConnected = true)))))
      }
    )
  )

/**
 * Layer that provides the store that the settings name.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ redisUrl }) => (redisUrl === undefined ? layerMemory : layerRedis(redisUrl)))
)
