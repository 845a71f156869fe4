/**
 * Keeps the token buckets: in this process, or in a Redis that all processes share.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import * as TokenBuckets from "./TokenBuckets.ts"
import * as RedisClient from "../database/RedisClient.ts"

/** Keeps them in this process, in the store of Effect except for its buckets, which it never deletes. */
export const layerMemory = Layer.effect(
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

const timedOut = () =>
  new RateLimiter.RateLimiterError({
    reason: new RateLimiter.RateLimitStoreError({ message: "The store of the rate limits did not answer in time" })
  })

const withTimeout = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => ({
    ...store,
    tokenBucket: (options: Parameters<typeof store.tokenBucket>[0]) =>
      Effect.timeoutOrElse(store.tokenBucket(options), {
        duration: RedisClient.timeout,
        orElse: () => Effect.fail(timedOut())
      })
  }))
)

/** Keeps them in Redis. */
export const layerRedis = withTimeout.pipe(Layer.provide(RateLimiter.layerStoreRedis({ prefix: RedisClient.prefix })))
