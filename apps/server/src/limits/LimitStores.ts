/**
 * Provides the stores of all limits: in the Redis that the settings name, or in this process.
 */
import { Effect, Layer } from "effect"
import * as SlidingWindowStore from "./SlidingWindowStore.ts"
import * as RedisBreaker from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"
import { Settings } from "../settings/Settings.ts"
import * as TokenBucketStore from "./TokenBucketStore.ts"

const memory = Layer.merge(TokenBucketStore.layerMemory, SlidingWindowStore.layerMemory)

const shared = Layer.merge(TokenBucketStore.layerRedis, SlidingWindowStore.layerRedis)

/** Provides `RateLimiterStore` and `SlidingWindowStore`. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ redisUrl }) =>
    redisUrl === undefined ? memory : Layer.provide(shared, [RedisClient.layer(redisUrl), RedisBreaker.layer])
  )
)
