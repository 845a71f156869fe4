/** A Redis that accepts connections and commands, and answers none. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Option, Scope } from "effect"
import { RateLimiter, Redis } from "effect/persistence"
import { setTimeout as sleep } from "node:timers/promises"
import * as RedisBreaker from "../../src/database/RedisBreaker.ts"
import * as RedisClient from "../../src/database/RedisClient.ts"
import * as LimitStores from "../../src/limits/LimitStores.ts"
import * as TokenBuckets from "../../src/limits/TokenBuckets.ts"
import { layerRedis as layerWindows, SlidingWindowStore } from "../../src/limits/SlidingWindows.ts"
import { reasonOf } from "../../src/observability/reasonOf.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { startRedis } from "./support/redis.ts"

const stores = (url: string) =>
  Layer.merge(TokenBuckets.layerRedis, layerWindows).pipe(Layer.provide([RedisClient.layer(url), RedisBreaker.layer]))

const take = Effect.flatMap(RateLimiter.RateLimiterStore, (store) =>
  store.tokenBucket({ key: "key_1", tokens: 1, limit: 10_000, refillRate: Duration.hours(1), allowOverflow: false })
)

const isOfRedis = ([remaining]: readonly [remaining: number, elapsedMs: number]) => remaining === 41

layer(Layer.empty, { excludeTestServices: true })("a Redis that hangs", (it) => {
  it.effect("gets one probe at a time, over all limits, until it answers", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const redis = yield* startRedis
      const context = yield* Layer.build(stores(redis.url))

      yield* Effect.gen(function* () {
        const window = (yield* SlidingWindowStore).make({ name: "logins", limit: 10_000, windowMs: 60_000 })
        assert.isTrue(isOfRedis(yield* take))
        redis.hang()
        const before = redis.commands.length
        const beganMs = performance.now()
        for (let time = 0; time < 40; time++) {
          assert.isFalse(isOfRedis(yield* take))
          assert.strictEqual(yield* window.take("owner"), 0)
        }
        const probes = (performance.now() - beganMs) / RedisBreaker.probeEveryMs
        assert.isAtMost(redis.commands.length - before, 2 + probes)
        assert.isAtLeast(redis.commands.length - before, 1)
        assert.deepStrictEqual(logged, ["Redis unavailable; each process counts its own limits"])

        redis.resume()
        while (!isOfRedis(yield* take)) yield* Effect.sleep("50 millis")
        assert.strictEqual(logged.at(-1), "Redis available again")
      }).pipe(Effect.provide([logger, Layer.succeedContext(context)]))
    })
  )

  it.effect("has each process count alone while it answers with anything but numbers", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      const context = yield* Layer.build(stores(redis.url))
      yield* Effect.gen(function* () {
        const window = (yield* SlidingWindowStore).make({ name: "logins", limit: 10_000, windowMs: 60_000 })
        const answers = ["$-1", "*-1", "*0", "+OK", "$3\r\nabc", "*2\r\n+a\r\n+b", "*1\r\n+a", "*2\r\n+a\r\n$-1"]
        for (const answer of answers) {
          redis.answer(`${answer}\r\n`)
          const [remaining, elapsed] = yield* take
          assert.isAbove(remaining, 9000, JSON.stringify(answer))
          assert.isAtLeast(elapsed, 0, JSON.stringify(answer))
          assert.strictEqual(yield* window.take("owner"), 0, JSON.stringify(answer))
        }
      }).pipe(Effect.provide([Logger.layer([]), Layer.succeedContext(context)]))
    })
  )

  it.effect("does not keep a process from starting, and is used once it answers", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const redis = yield* startRedis
      redis.hang()
      yield* Effect.gen(function* () {
        const context = yield* Layer.build(
          LimitStores.layer.pipe(Layer.provide(TestSettings.layer({ redisUrl: redis.url })))
        )
        assert.deepStrictEqual(logged, ["Redis unavailable; each process counts its own limits"])
        assert.isFalse(isOfRedis(yield* Effect.provide(take, context)))
        redis.resume()
        while (!isOfRedis(yield* Effect.provide(take, context))) yield* Effect.sleep("50 millis")
        assert.strictEqual(logged.at(-1), "Redis available again")
      }).pipe(Effect.provide(logger))
    })
  )

  it.effect("fails what is sent with the reason, and stops at once, while it refuses connections", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      redis.stop()
      const client = Layer.fresh(RedisClient.layer(redis.url))
      const ping = Effect.flatMap(Redis.Redis, (connection) => connection.send("PING")).pipe(Effect.provide(client))
      const tokens = take.pipe(
        Effect.provide(RateLimiter.layerStoreRedis({ prefix: RedisClient.prefix }).pipe(Layer.provide(client)))
      )
      for (const error of [yield* Effect.flip(ping), yield* Effect.flip(tokens)])
        assert.match(reasonOf(error), /ECONNREFUSED/)
    })
  )

  it.effect("gets the next probe over another connection if it did not answer the greeting", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      const client = RedisClient.layer(redis.url, 1000)
      const context = yield* Layer.build(TokenBuckets.layerRedis.pipe(Layer.provide([client, RedisBreaker.layer])))
      const untilOfRedis = Effect.gen(function* () {
        while (!isOfRedis(yield* Effect.provide(take, context))) yield* Effect.sleep("50 millis")
      })
      yield* untilOfRedis
      redis.hang()
      redis.cut()
      while (redis.connections() < 2) yield* Effect.sleep("10 millis")
      // The greeting of this connection stays without an answer.
      while (redis.commands.at(-1) !== "CLIENT") yield* Effect.sleep("10 millis")
      redis.discard()
      assert.isTrue(Option.isSome(yield* Effect.timeoutOption(untilOfRedis, "40 seconds")))
    })
  )

  it.effect("gets the next probe over another connection if one that is used has gone silent", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      const client = RedisClient.layer(redis.url, 3000)
      const context = yield* Layer.build(TokenBuckets.layerRedis.pipe(Layer.provide([client, RedisBreaker.layer])))
      const untilOfRedis = Effect.gen(function* () {
        while (!isOfRedis(yield* Effect.provide(take, context))) yield* Effect.sleep("50 millis")
      })
      yield* untilOfRedis
      redis.mute()
      while (isOfRedis(yield* Effect.provide(take, context))) yield* Effect.sleep("50 millis")
      // The probes of the breaker go on: what is written keeps no connection.
      yield* untilOfRedis
      assert.strictEqual(redis.connections(), 2)
    })
  )

  it.effect("keeps its connection while it is not used", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      yield* Layer.build(RedisClient.layer(redis.url, 1500))
      while (redis.commands.filter((name) => name === "PING").length < 6) yield* Effect.sleep("20 millis")
      assert.strictEqual(redis.connections(), 1)
    })
  )

  it.effect("does not delay the stop of the process", () =>
    Effect.gen(function* () {
      const redis = yield* startRedis
      const scope = Scope.makeUnsafe()
      const context = yield* Scope.provide(Layer.build(stores(redis.url)), scope)
      redis.hang()
      yield* Effect.provide(take, context)
      const close = Effect.runPromise(Scope.close(scope, Exit.void)).then(() => true)
      const isClosed = yield* Effect.promise(() => Promise.race([close, sleep(40_000, false, { ref: false })]))
      assert.isTrue(isClosed)
    })
  )
})
