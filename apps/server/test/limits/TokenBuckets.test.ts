import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Clock, Duration, Effect, Layer, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as TokenBuckets from "../../src/limits/TokenBuckets.ts"

const request = { key: "a", tokens: 1, limit: 3, refillMs: 1000, allowOverflow: false }

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const walks = Arbitrary.array(
  Arbitrary.schema(
    Schema.Struct({
      wait: Schema.Union([Schema.Literal(0), int(0, 5000)]),
      key: Schema.Literals(["a", "b", "c"]),
      tokens: int(1, 3)
    })
  ),
  { maxLength: 60 }
)

describe("MemoryTokenBuckets", () => {
  it("grants the content of a full bucket, refuses more, and takes no token with a refusal", () => {
    const buckets = TokenBuckets.makeBuckets()
    const remaining = () => buckets.take(request, 0)[0]
    assert.deepStrictEqual([remaining(), remaining(), remaining(), remaining(), remaining()], [2, 1, 0, -1, -1])
    assert.strictEqual(buckets.take({ ...request, key: "b" }, 0)[0], 2)
    assert.deepStrictEqual(buckets.take(request, 1500), [0, 500])
  })

  it("refills when the clock is set back", () => {
    const buckets = TokenBuckets.makeBuckets()
    const hour = 3_600_000
    for (let count = 0; count < 3; count++) buckets.take(request, hour)
    assert.isBelow(buckets.take(request, 0)[0], 0)
    assert.deepStrictEqual(buckets.take(request, 2000), [1, 0])
  })

  it.effect.prop(
    "agrees with the store of Effect",
    [walks],
    ([walk]) =>
      Effect.gen(function* () {
        const store = yield* RateLimiter.RateLimiterStore
        const buckets = TokenBuckets.makeBuckets()
        for (const { wait, ...step } of walk) {
          yield* TestClock.adjust(wait)
          const expected = yield* store.tokenBucket({
            ...request,
            ...step,
            refillRate: Duration.millis(request.refillMs)
          })
          const now = yield* Clock.currentTimeMillis
          assert.deepStrictEqual(buckets.take({ ...request, ...step }, now), expected)
        }
      }).pipe(Effect.provide(Layer.fresh(RateLimiter.layerStoreMemory))),
    { arbitrary: { runs: 300 } }
  )

  it("evicts the buckets that are full again", () => {
    const buckets = TokenBuckets.makeBuckets()
    let most = 0
    for (let index = 0; index < 100_000; index++) {
      buckets.take({ ...request, key: String(index) }, index * 10)
      most = Math.max(most, buckets.size())
    }
    assert.isAtMost(most, 101, "a bucket that lacks one token of a second is full after 100 others")
    buckets.take(request, 1e9)
    assert.strictEqual(buckets.size(), 1)
  })

  it("does not evict a bucket in use", () => {
    const buckets = TokenBuckets.makeBuckets()
    for (let index = 0; index < 1000; index++) {
      buckets.take(request, index)
      buckets.take({ ...request, key: String(index) }, index)
    }
    assert.isBelow(buckets.take(request, 999)[0], 0)
  })
})
