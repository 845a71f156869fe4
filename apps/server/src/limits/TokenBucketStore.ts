/**
 * Keeps the token buckets: in this process, or in a Redis that all processes share.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import * as MemoryTokenBuckets from "./MemoryTokenBuckets.ts"
import { RedisBreaker } from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"

/** Keeps them in this process, in the store of Effect except for its buckets, which it never deletes. */
export const layerMemory = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => {
    const buckets = MemoryTokenBuckets.make()
    return {
      ...store,
      tokenBucket: ({ refillRate, ...taking }: Parameters<typeof store.tokenBucket>[0]) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          buckets.take({ ...taking, refillMs: Duration.toMillis(refillRate) }, now)
        )
    }
  })
).pipe(Layer.provide(RateLimiter.layerStoreMemory))

const inMemory = Effect.provide(RateLimiter.RateLimiterStore, layerMemory)

const withFallback = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const store = yield* RateLimiter.RateLimiterStore
    const local = yield* inMemory
    const breaker = yield* RedisBreaker
    return {
      ...store,
      tokenBucket: (options: Parameters<typeof store.tokenBucket>[0]) =>
        breaker.orElse(store.tokenBucket(options), Effect.orDie(local.tokenBucket(options)))
    }
  })
)

/** Keeps them in Redis. While Redis fails, each process counts alone, with the same limits. */
export const layerRedis = withFallback.pipe(Layer.provide(RateLimiter.layerStoreRedis({ prefix: RedisClient.prefix })))
