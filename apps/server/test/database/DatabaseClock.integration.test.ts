/** The offset of a process from its database. The process has the time of `TestClock`, the database has the real time. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as DatabaseClock from "../../src/database/DatabaseClock.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import * as SteppedClock from "../support/SteppedClock.ts"
import { layerPostgres } from "../support/TestDatabase.ts"

const everyMs = 30_000

const offsetSeconds = Effect.map(Metric.value(EngineMetrics.clockOffset), ({ value }) => value)

// The statements of the measurement take real time.
const restLive = (milliseconds: number) => TestClock.withLive(Effect.sleep(milliseconds))

// The clock of the test begins at the epoch, so the offset is the real time minus the time that the test has let pass.
const assertOffset = Effect.fnUntraced(function* (seconds: number) {
  const real = yield* TestClock.withLive(Clock.currentTimeMillis)
  assert.approximately(seconds, (real - (yield* Clock.currentTimeMillis)) / 1000, 10)
})

layer(layerPostgres, { timeout: "120 seconds" })("DatabaseClock", (it) => {
  it.effect(
    "measures the offset at start and every half minute, sets its metric, and shows the time of the database",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(DatabaseClock.layer)
        const atStart = yield* offsetSeconds
        yield* assertOffset(atStart)
        const shown = yield* Effect.provide(Clock.currentTimeMillis, context)
        assert.approximately(shown - (yield* Clock.currentTimeMillis), atStart * 1000, 1)

        // Earlier checks find no measurement due before.
        yield* TestClock.adjust(everyMs - 10_000)
        yield* restLive(300)
        assert.strictEqual(yield* offsetSeconds, atStart)

        // The clock of the process has advanced by half a minute meanwhile.
        yield* TestClock.adjust(10_000)
        for (let waited = 0; (yield* offsetSeconds) === atStart && waited < 20_000; waited += 20) yield* restLive(20)
        const later = yield* offsetSeconds
        assert.notStrictEqual(later, atStart)
        yield* assertOffset(later)
        const shownLater = yield* Effect.provide(Clock.currentTimeMillis, context)
        assert.approximately(shownLater - (yield* Clock.currentTimeMillis), later * 1000, 1)
      })
  )

  it.effect("shows no wall clock of the process that is stepped, and measures soon after it was", () =>
    Effect.gen(function* () {
      const { run, step } = yield* SteppedClock.make
      const context = yield* run(Layer.build(DatabaseClock.layer))
      const shown = Effect.provide(Clock.currentTimeMillis, context)
      const [before, atStart] = [yield* shown, yield* offsetSeconds]
      for (const stepMs of [600_000, -86_400_000]) {
        step(stepMs)
        assert.strictEqual(yield* shown, before)
        step(-stepMs)
      }
      step(600_000)
      yield* TestClock.adjust("2 seconds")
      for (let waited = 0; (yield* offsetSeconds) === atStart && waited < 20_000; waited += 20) yield* restLive(20)
      assert.approximately(yield* offsetSeconds, atStart - 600, 10)
    })
  )

  it.effect("reads no wall clock of the process, which may be read late, so that its time never goes back", () =>
    Effect.gen(function* () {
      let readings = 0
      const late = DatabaseClock.shifted(yield* Clock.Clock, () => (readings++ * 7) % 50)
      const context = yield* Effect.provideService(Layer.build(DatabaseClock.layer), Clock.Clock, late)
      const shown = Effect.provide(Clock.currentTimeMillis, context)
      const first = yield* shown
      for (let n = 0; n < 50; n++) assert.strictEqual(yield* shown, first)
    })
  )
})
