/**
 * Counts of events by key in a sliding window: in this process, or in a Redis that all processes share.
 *
 * When Redis fails, each process counts alone until it is back.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { randomUUID } from "node:crypto"
import * as MemorySlidingWindow from "./MemorySlidingWindow.ts"
import { RedisBreaker } from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"

/** A window of `limit` events for each key. */
export interface Window {
  /** Counts an event and returns 0, or returns how many milliseconds to wait and counts nothing. */
  readonly take: (key: string) => Effect.Effect<number>
  /** Returns how many milliseconds to wait: 0 below the limit. */
  readonly wait: (key: string) => Effect.Effect<number>
  /** Counts an event. */
  readonly add: (key: string) => Effect.Effect<void>
}

/** The size of a window. */
export interface WindowOptions {
  /** Distinguishes the keys of one window from those of another. */
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

/** Makes windows. */
export class SlidingWindowStore extends Context.Service<
  SlidingWindowStore,
  { readonly make: (options: WindowOptions) => Window }
>()("@govoice/server/limits/SlidingWindowStore") {}

const makeLocal = ({ limit, windowMs }: WindowOptions): Window => {
  const window = MemorySlidingWindow.make(limit, windowMs)
  return {
    take: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const wait = window.waitMs(key, now)
        if (wait === 0) window.add(key, now)
        return wait
      }),
    wait: (key) => Effect.map(Clock.currentTimeMillis, (now) => window.waitMs(key, now)),
    add: (key) => Effect.map(Clock.currentTimeMillis, (now) => window.add(key, now))
  }
}

/** Provides `SlidingWindowStore` for this process. */
export const layerMemory: Layer.Layer<SlidingWindowStore> = Layer.succeed(SlidingWindowStore)({ make: makeLocal })

const countScript = Redis.script(
  (key: string, operation: keyof Window, limit: number, windowMs: number, event: string) => [
    key,
    operation,
    limit,
    windowMs,
    event
  ],
  {
    numberOfKeys: 1,
    lua: `
local key, operation, limit, window = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", key, "-inf", now - window)
local oldest = redis.call("ZRANGE", key, -limit, -limit, "WITHSCORES")[2]
local wait = oldest and (oldest + window - now) or 0
if operation == "add" or (operation == "take" and wait == 0) then
  redis.call("ZADD", key, now, ARGV[4])
  redis.call("ZREMRANGEBYRANK", key, 0, -limit - 1)
  redis.call("PEXPIRE", key, window)
end
return wait
`
  }
).withReturnType<number>()

/** Provides `SlidingWindowStore` in a Redis. */
export const layerRedis: Layer.Layer<SlidingWindowStore, never, RedisBreaker | Redis.Redis> = Layer.effect(
  SlidingWindowStore,
  Effect.gen(function* () {
    const redis = yield* Redis.Redis
    const breaker = yield* RedisBreaker
    const count = redis.eval(countScript)
    return {
      make: (options) => {
        const { limit, name, windowMs } = options
        const local = makeLocal(options)
        const run = <A>(operation: keyof Window, key: string, alone: Effect.Effect<A>): Effect.Effect<A | number> =>
          breaker.orElse(count(`${RedisClient.prefix}${name}:${key}`, operation, limit, windowMs, randomUUID()), alone)
        return {
          take: (key) => run("take", key, local.take(key)),
          wait: (key) => run("wait", key, local.wait(key)),
          add: (key) => Effect.asVoid(run("add", key, local.add(key)))
        }
      }
    }
  })
)
