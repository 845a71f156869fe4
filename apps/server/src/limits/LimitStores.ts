/**
 * Provides the stores of all limits: in the Redis that the settings name, or in this process.
 */
import { Effect, Layer } from "effect"
import * as SlidingWindows from "./SlidingWindows.ts"
import * as RedisBreaker from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"
import { Settings } from "../settings/Settings.ts"
import * as TokenBuckets from "./TokenBuckets.ts"

const memory = Layer.merge(TokenBuckets.layerMemory, SlidingWindows.layerMemory)

const shared = Layer.merge(TokenBuckets.layerRedis, SlidingWindows.layerRedis)

/** Provides `RateLimiterStore` and `SlidingWindowStore`. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ redisUrl }) =>
    redisUrl === undefined ? memory : Layer.provide(shared, [RedisClient.layer(redisUrl), RedisBreaker.layer])
  )
)
