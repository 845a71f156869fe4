import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { TestClock } from "effect/testing"
import { Notifier } from "../../src/jobs/Notifier.ts"
import * as WorkerLoop from "../../src/jobs/WorkerLoop.ts"
import * as WorkerProgress from "../../src/jobs/WorkerProgress.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"

const notifier = Notifier.of({
  wake: () => Effect.void,
  recheck: () => Effect.void,
  wait: (_, milliseconds) => Effect.as(Effect.sleep(milliseconds), false)
})

const failures = Effect.map(Metric.value(EngineMetrics.failedIterations("deliveries")), ({ count }) => count)

const start = (isBroken: () => boolean) =>
  WorkerLoop.run({
    kind: "deliveries",
    notifier,
    iterate: () => (isBroken() ? Effect.fail("broken") : Effect.succeed({ sleepUntil: Infinity }))
  })

const withProgress = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, WorkerProgress.WorkerProgress, new Map())

describe("WorkerLoop", () => {
  it.effect("counts iterations that fail, and is stalled after a minute without one that succeeds", () =>
    withProgress(
      Effect.gen(function* () {
        let isBroken = false
        yield* start(() => isBroken)
        const before = yield* failures
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* WorkerProgress.stalled, [])
        assert.strictEqual(yield* failures, before)

        isBroken = true
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* WorkerProgress.stalled, [])
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* WorkerProgress.stalled, ["deliveries"])
        assert.isAbove(yield* failures, before + 50)

        isBroken = false
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(yield* WorkerProgress.stalled, [])
      })
    )
  )

  it.effect("is not stalled after it has stopped", () =>
    withProgress(
      Effect.gen(function* () {
        yield* Effect.scoped(start(() => true))
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* WorkerProgress.stalled, [])
      })
    )
  )
})
