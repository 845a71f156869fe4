/** The offset of a process from its database. The process has the time of `TestClock`, the database has the real time. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as DatabaseClock from "../../src/database/DatabaseClock.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import { layerPostgres } from "../support/TestDatabase.ts"

const hourMs = 3_600_000

const offsetSeconds = Effect.map(Metric.value(EngineMetrics.clockOffset), ({ value }) => value)

// The statements of the measurement take real time.
const restLive = (milliseconds: number) => TestClock.withLive(Effect.sleep(milliseconds))

// The clock of the test begins at the epoch, so the offset is the real time minus the time that the test has let pass.
const assertOffset = Effect.fnUntraced(function* (seconds: number) {
  const real = yield* TestClock.withLive(Clock.currentTimeMillis)
  assert.approximately(seconds, (real - (yield* Clock.currentTimeMillis)) / 1000, 60)
})

layer(layerPostgres, { timeout: "120 seconds" })("DatabaseClock", (it) => {
  it.effect("measures the offset at start and every hour, sets its metric, and shows the time of the database", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(DatabaseClock.layer)
      const atStart = yield* offsetSeconds
      yield* assertOffset(atStart)
      const shown = yield* Effect.provide(Clock.currentTimeMillis, context)
      assert.approximately(shown - (yield* Clock.currentTimeMillis), atStart * 1000, 1)

      // Checks every ten seconds find no measurement due within the hour.
      yield* TestClock.adjust(hourMs - 10_000)
      yield* restLive(300)
      assert.strictEqual(yield* offsetSeconds, atStart)

      // The clock of the process has advanced by an hour meanwhile.
      yield* TestClock.adjust(10_000)
      for (let waited = 0; (yield* offsetSeconds) === atStart && waited < 50_000; waited += 20) yield* restLive(20)
      const afterAnHour = yield* offsetSeconds
      yield* assertOffset(afterAnHour)
      const shownLater = yield* Effect.provide(Clock.currentTimeMillis, context)
      assert.approximately(shownLater - (yield* Clock.currentTimeMillis), afterAnHour * 1000, 1)
    })
  )
})
