/**
 * Counts of events by key in a sliding window: in this process, or in a Redis that all processes share. When Redis fails, each
 * process counts alone until it is back.
 */
import { Context, Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { randomUUID } from "node:crypto"
import { RedisBreaker } from "../database/RedisBreaker.ts"
import * as RedisClient from "../database/RedisClient.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"

/** A count of events for each key. Times are in milliseconds. */
export interface MemorySlidingWindow {
  /** Returns how long until the count is below the limit: 0 if it is. */
  readonly waitMs: (key: string, now: number) => number
  readonly add: (key: string, now: number) => void
  /** The number of keys in memory. */
  readonly size: () => number
}

/**
 * Makes a window of `windowMs` milliseconds and `limit` events for each key, in memory. Keys without an event in the window are
 * evicted. Beyond a maximum number of keys, those with the oldest events are evicted first.
 */
export const makeWindow = (limit: number, windowMs: number, maxKeys = 10_000): MemorySlidingWindow => {
  // Ordered by the last event.
  const events = new Map<string, ReadonlyArray<number>>()

  const recent = (key: string, now: number): ReadonlyArray<number> =>
    (events.get(key) ?? []).filter((at) => at > now - windowMs)

  const evict = (now: number): void => {
    for (const [key, times] of events) {
      if (events.size <= maxKeys && times.at(-1)! > now - windowMs) return
      events.delete(key)
    }
  }

  return {
    waitMs: (key, now) => {
      const oldest = recent(key, now).at(-limit)
      return oldest === undefined ? 0 : oldest + windowMs - now
    },
    add: (key, now) => {
      const times = [...recent(key, now), now].slice(-limit)
      events.delete(key)
      events.set(key, times)
      evict(now)
    },
    size: () => events.size
  }
}

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
  /**
   * Returns further keys that the events of a key count for. An event that is beyond one of the limits counts for none of them. All
   * keys have the same limits in the same order, or no further keys.
   */
  readonly wider?: (key: string) => ReadonlyArray<CountedKey>
}

/** A key that events count for, and how many it allows. */
export interface CountedKey {
  readonly key: string
  readonly limit: number
}

const countedKeys = ({ limit, wider }: WindowOptions, key: string): ReadonlyArray<CountedKey> => [
  { key, limit },
  ...(wider?.(key) ?? [])
]

/** Makes windows. */
export class SlidingWindowStore extends Context.Service<
  SlidingWindowStore,
  { readonly make: (options: WindowOptions) => Window }
>()("@govoice/server/limits/SlidingWindowStore") {}

const makeLocal = (options: WindowOptions): Window => {
  // One for each of the limits: however many networks a stranger has, the networks around them are not evicted for them.
  const windows: Array<MemorySlidingWindow> = []
  const countersOf = (key: string) =>
    countedKeys(options, key).map((counted, index) => ({
      key: counted.key,
      window: (windows[index] ??= makeWindow(counted.limit, options.windowMs))
    }))
  const waitMs = (key: string, now: number) =>
    Math.max(...countersOf(key).map((counter) => counter.window.waitMs(counter.key, now)))
  const add = (key: string, now: number) => {
    for (const counter of countersOf(key)) counter.window.add(counter.key, now)
  }
  return {
    take: (key) =>
      Effect.map(MonotonicTime.now, (now) => {
        const wait = waitMs(key, now)
        if (wait === 0) add(key, now)
        return wait
      }),
    wait: (key) => Effect.map(MonotonicTime.now, (now) => waitMs(key, now)),
    add: (key) => Effect.map(MonotonicTime.now, (now) => add(key, now))
  }
}

/** Provides `SlidingWindowStore` for this process. */
export const layerMemory: Layer.Layer<SlidingWindowStore> = Layer.succeed(SlidingWindowStore)({ make: makeLocal })

// One script for all keys of an event: between two, the events of other callers would count.
const countScript = Redis.script(
  (counted: ReadonlyArray<CountedKey>, operation: keyof Window, windowMs: number, event: string) => [
    ...counted.map(({ key }) => key),
    operation,
    windowMs,
    event,
    ...counted.map(({ limit }) => limit)
  ],
  {
    numberOfKeys: (counted) => counted.length,
    lua: `
local operation, window, event = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local wait = 0
for index, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[3 + index])
  redis.call("ZREMRANGEBYSCORE", key, "-inf", now - window)
  local oldest = redis.call("ZRANGE", key, -limit, -limit, "WITHSCORES")[2]
  if oldest then wait = math.max(wait, oldest + window - now) end
end
if operation == "add" or (operation == "take" and wait == 0) then
  for index, key in ipairs(KEYS) do
    redis.call("ZADD", key, now, event)
    redis.call("ZREMRANGEBYRANK", key, 0, -tonumber(ARGV[3 + index]) - 1)
    redis.call("PEXPIRE", key, window)
  end
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
        const local = makeLocal(options)
        const run = <A>(operation: keyof Window, key: string, alone: Effect.Effect<A>): Effect.Effect<A | number> => {
          const counted = countedKeys(options, key).map((one) => ({
            key: `${RedisClient.prefix}${options.name}:${one.key}`,
            limit: one.limit
          }))
          const call = count(counted, operation, options.windowMs, randomUUID())
          return breaker.orElse(Effect.map(call, Number), alone)
        }
        return {
          take: (key) => run("take", key, local.take(key)),
          wait: (key) => run("wait", key, local.wait(key)),
          add: (key) => Effect.asVoid(run("add", key, local.add(key)))
        }
      }
    }
  })
)

/**
 * How many times the limit of a network of 64 bits the wider networks have. A subscriber can have many IPv6 networks of 64 bits, so
 * the networks of 56 and 48 bits around them are counted, too.
 */
export const multiples = { 56: 2, 48: 4 } as const

/** The size of a window. */
export interface NetworkWindowOptions {
  readonly name: string
  /** The limit of an IPv4 address, and of an IPv6 network of 64 bits. */
  readonly limit: number
  readonly windowMs: number
}

const networkOf64Bits = /^([\da-f]+):([\da-f]+):([\da-f]+):([\da-f]+)::\/64$/

/** Returns the networks of 56 and of 48 bits around one of 64 bits; none for an IPv4 address. */
export const widerNetworks = (network: string): { readonly 56: string; readonly 48: string } | undefined => {
  const groups = networkOf64Bits
    .exec(network)
    ?.slice(1)
    .map((group) => Number.parseInt(group, 16))
  if (groups === undefined) return undefined
  const site = groups
    .slice(0, 3)
    .map((group) => group.toString(16))
    .join(":")
  return { 56: `${site}:${(groups[3]! & 0xff00).toString(16)}::/56`, 48: `${site}::/48` }
}

/** Makes a window of `limit` events for each network, as `ClientAddress.group` returns it. */
export const makeForNetworks = (windows: SlidingWindowStore["Service"], options: NetworkWindowOptions): Window =>
  windows.make({
    ...options,
    wider: (network) => {
      const networks = widerNetworks(network)
      return networks === undefined
        ? []
        : ([56, 48] as const).map((bits) => ({ key: networks[bits], limit: multiples[bits] * options.limit }))
    }
  })
