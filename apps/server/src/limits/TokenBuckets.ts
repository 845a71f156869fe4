/** Token buckets by key: in this process, or in a Redis that all processes share. */
import { Clock, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { RedisBreaker } from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"

/** A request for tokens. Times are in milliseconds. */
export interface TokenRequest {
  readonly key: string
  readonly tokens: number
  /** The size of the bucket. */
  readonly limit: number
  /** How long one token takes to come back. */
  readonly refillMs: number
  /** Whether the bucket may go below zero. */
  readonly allowOverflow: boolean
}

/** Buckets by key. */
export interface MemoryTokenBuckets {
  /**
   * Takes tokens. Returns how many remain, below zero for those that were missing, and how long ago the last whole token
   * came back.
   */
  readonly take: (request: TokenRequest, now: number) => readonly [remaining: number, elapsedMs: number]
  /** The number of buckets in memory. */
  readonly size: () => number
}

interface Bucket {
  readonly tokens: number
  /** When the last whole token came back. */
  readonly filledAt: number
  readonly fullAt: number
}

/**
 * Makes buckets in memory, all full. A bucket that is full again is evicted: it is the same as a new one. So the memory is bounded
 * by the keys that were used within the time that an empty bucket takes to fill.
 */
export const makeBuckets = (): MemoryTokenBuckets => {
  // Ordered by their last use.
  const buckets = new Map<string, Bucket>()

  const evict = (now: number): void => {
    for (const [key, { fullAt }] of buckets) {
      if (fullAt > now) return
      buckets.delete(key)
    }
  }

  return {
    take: ({ allowOverflow, key, limit, refillMs, tokens }, now) => {
      const bucket = buckets.get(key)
      // A clock that was set back delays no refill.
      const since = bucket === undefined ? now : Math.min(now, bucket.filledAt)
      const refilled = Math.floor((now - since) / refillMs)
      const before = bucket === undefined ? limit : Math.min(limit, bucket.tokens + refilled)
      const filledAt = bucket === undefined || before >= limit ? now : since + refilled * refillMs
      const remaining = before - tokens

      const after = allowOverflow || remaining >= 0 ? remaining : before
      buckets.delete(key)
      buckets.set(key, { tokens: after, filledAt, fullAt: filledAt + (limit - after) * refillMs })
      evict(now)
      return [remaining, now - filledAt]
    },
    size: () => buckets.size
  }
}

/** Keeps them in this process, in the store of Effect except for its buckets, which it never deletes. */
export const layerMemory = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) => {
    const buckets = makeBuckets()
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
