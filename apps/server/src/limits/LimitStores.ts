/**
 * Provides the stores of all limits: in the Redis that the settings name, or in this process.
 */
import { Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import * as SlidingWindows from "./SlidingWindows.ts"
import * as RedisBreaker from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"
import { Settings } from "../settings/Settings.ts"
import * as TokenBuckets from "./TokenBuckets.ts"

const memory = Layer.merge(TokenBuckets.layerMemory, SlidingWindows.layerMemory)

// A Redis that does not answer is logged at the start, before there are requests.
const askOnce = Effect.gen(function* () {
  const redis = yield* Redis.Redis
  // A first connection may take longer than a call.
  yield* Effect.ignore(Effect.timeout(redis.send("PING"), "2 seconds"))
  yield* (yield* RedisBreaker.RedisBreaker).orElse(Effect.as(redis.send("PING"), 0), Effect.void)
})

const shared = Layer.mergeAll(TokenBuckets.layerRedis, SlidingWindows.layerRedis, Layer.effectDiscard(askOnce))

/** Provides `RateLimiterStore` and `SlidingWindowStore`. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ redisUrl }) =>
    redisUrl === undefined ? memory : Layer.provide(shared, [RedisClient.layer(redisUrl), RedisBreaker.layer])
  )
)
