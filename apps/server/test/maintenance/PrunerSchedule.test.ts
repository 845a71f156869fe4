/** How often the parts of the pruner run. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Pruner from "../../src/maintenance/Pruner.ts"

const nothing = { weeks: 0, idempotencyRecords: 0, refreshTokens: 0, sessions: 0, apiKeys: 0, endpoints: 0 }

it.effect("partitions are looked at every minute, because all submissions fail without one; the rest every hour", () =>
  Effect.gen(function* () {
    let pruned = 0
    let made = 0
    const pruner = {
      prune: Effect.sync(() => {
        pruned += 1
        return nothing
      }),
      makeWeeks: Effect.sync(() => void (made += 1))
    }
    yield* Layer.build(Layer.provide(Pruner.layerScheduled, Layer.succeed(Pruner.Pruner, pruner)))
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual([pruned, made], [1, 10])
  })
)
