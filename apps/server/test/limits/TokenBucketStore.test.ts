import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Logger } from "effect"
import { RateLimiter } from "effect/persistence"
import * as RedisBreaker from "../../src/database/RedisBreaker.ts"
import * as RedisClient from "../../src/database/RedisClient.ts"
import * as TokenBuckets from "../../src/limits/TokenBuckets.ts"
import { startRedis } from "./support/redis.ts"

const take = (store: RateLimiter.RateLimiterStore["Service"], key: string) =>
  Effect.map(
    store.tokenBucket({ key, tokens: 1, limit: 3, refillRate: Duration.hours(1), allowOverflow: false }),
    ([remaining]) => remaining
  )

layer(Layer.empty, { excludeTestServices: true })("TokenBucketStore", (it) => {
  it.effect("counts in Redis, and in this process with the same limits after Redis has died", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
      const redis = yield* startRedis
      const store = yield* Effect.provide(
        RateLimiter.RateLimiterStore,
        yield* Layer.build(
          TokenBuckets.layerRedis.pipe(Layer.provide(RedisClient.layer(redis.url)), Layer.provide(RedisBreaker.layer))
        )
      )
      const remaining: Array<number> = []
      const takeSome = Effect.gen(function* () {
        for (let n = 0; n < 5; n++) remaining.push(yield* take(store, "key_1"))
      }).pipe(Effect.provide(logger))
      yield* takeSome
      assert.deepStrictEqual(remaining.splice(0), [41, 41, 41, 41, 41])
      redis.stop()
      yield* takeSome
      // Not enough tokens are left from the fourth on.
      assert.deepStrictEqual(remaining, [2, 1, 0, -1, -1])
      assert.strictEqual(yield* take(store, "key_2"), 2)
      assert.deepStrictEqual(logged, ["Redis unavailable; each process counts its own limits"])
    })
  )
})
