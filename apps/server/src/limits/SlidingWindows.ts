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
}

/** Makes windows. */
export class SlidingWindowStore extends Context.Service<
  SlidingWindowStore,
  { readonly make: (options: WindowOptions) => Window }
>()("@govoice/server/limits/SlidingWindowStore") {}

const makeLocal = ({ limit, windowMs }: WindowOptions): Window => {
  const window = makeWindow(limit, windowMs)
  return {
    take: (key) =>
      Effect.map(MonotonicTime.now, (now) => {
        const wait = window.waitMs(key, now)
        if (wait === 0) window.add(key, now)
        return wait
      }),
    wait: (key) => Effect.map(MonotonicTime.now, (now) => window.waitMs(key, now)),
    add: (key) => Effect.map(MonotonicTime.now, (now) => window.add(key, now))
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
        const run = <A>(operation: keyof Window, key: string, alone: Effect.Effect<A>): Effect.Effect<A | number> => {
          const call = count(`${RedisClient.prefix}${name}:${key}`, operation, limit, windowMs, randomUUID())
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
export const makeForNetworks = (
  windows: SlidingWindowStore["Service"],
  { limit, name, windowMs }: NetworkWindowOptions
): Window => {
  const narrow = windows.make({ name, limit, windowMs })
  const wide = ([56, 48] as const).map((bits) => ({
    bits,
    window: windows.make({ name: `${name}:${bits}`, limit: multiples[bits] * limit, windowMs })
  }))

  const ofWide = (network: string, use: (window: Window, key: string) => Effect.Effect<number | void>) => {
    const networks = widerNetworks(network)
    return networks === undefined
      ? Effect.succeed([])
      : Effect.all(wide.map(({ bits, window }) => use(window, networks[bits])))
  }
  const waitOfWide = (network: string) =>
    Effect.map(
      ofWide(network, (window, key) => window.wait(key)),
      (waits) => Math.max(0, ...waits.map(Number))
    )
  const addToWide = (network: string) => ofWide(network, (window, key) => window.add(key))

  return {
    take: Effect.fnUntraced(function* (network) {
      const wideWait = yield* waitOfWide(network)
      const wait = wideWait > 0 ? wideWait : yield* narrow.take(network)
      if (wait === 0) yield* addToWide(network)
      return wait
    }),
    wait: (network) =>
      Effect.map(Effect.all([waitOfWide(network), narrow.wait(network)]), ([wideWait, wait]) =>
        Math.max(wideWait, wait)
      ),
    add: (network) => Effect.andThen(narrow.add(network), Effect.asVoid(addToWide(network)))
  }
}
