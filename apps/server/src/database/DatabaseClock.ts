/**
 * A `Clock` that shows the time of the database, so that records of all processes have comparable times.
 *
 * It goes on with the monotonic clock, so that nothing shows a wall clock of the process that is stepped. It is compared with the
 * database at start, every half minute, since the clock of the database may be stepped too, and soon after the wall clock of the process
 * was: a machine that was suspended has stopped its monotonic clock meanwhile. Leases and claims do not depend on it: see `StatementTime`.
 */
import { Clock, Duration, Effect, Layer, Metric } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import { Shared } from "./Database.ts"
import * as OutageLog from "./OutageLog.ts"

/** An offset above which the process warns, in milliseconds: once, and again when it has changed by as much. */
export const warningMs = 2000

const samples = 5
const measureEveryMs = 30_000
const checkEveryMs = 1000
const stepMs = 500

interface Sample {
  readonly offsetMs: number
  readonly roundTripMs: number
}

/**
 * Measures the time of the database minus the time of `clock`, in milliseconds: positive when the process is behind.
 *
 * Of a few samples the one with the shortest round trip counts. An offset that is smaller than its possible error is 0.
 */
export const measureOffset = (clock: Clock.Clock): Effect.Effect<number, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    let best: Sample = { offsetMs: 0, roundTripMs: Infinity }
    for (let n = 0; n < samples; n++) {
      const before = clock.currentTimeMillisUnsafe()
      const [row] = yield* sql<{ readonly now: number }>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
      `
      const roundTripMs = clock.currentTimeMillisUnsafe() - before
      if (roundTripMs < best.roundTripMs) best = { offsetMs: row!.now - (before + roundTripMs / 2), roundTripMs }
    }
    return Math.abs(best.offsetMs) <= best.roundTripMs / 2 + 1 ? 0 : Math.round(best.offsetMs)
  })

const nanosPerMs = 1_000_000n

/** Returns a clock with another wall time. Its monotonic time is the same. */
const withWallTime = (clock: Clock.Clock, milliseconds: () => number, nanoseconds: () => bigint): Clock.Clock => ({
  currentTimeMillisUnsafe: milliseconds,
  currentTimeMillis: Effect.sync(milliseconds),
  currentTimeNanosUnsafe: nanoseconds,
  currentTimeNanos: Effect.sync(nanoseconds),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/** Returns a clock whose wall time is ahead of another's. */
export const shifted = (clock: Clock.Clock, offsetMs: () => number): Clock.Clock =>
  withWallTime(
    clock,
    () => clock.currentTimeMillisUnsafe() + offsetMs(),
    () => clock.currentTimeNanosUnsafe() + BigInt(offsetMs()) * nanosPerMs
  )

/** Returns a clock that goes on from the present wall time of another one, however that is stepped, and never goes back. */
const unstepped = (clock: Clock.Clock): Clock.Clock => {
  const ahead = BigInt(clock.currentTimeMillisUnsafe()) * nanosPerMs - clock.monotonicTimeNanosUnsafe()
  const nanoseconds = () => clock.monotonicTimeNanosUnsafe() + ahead
  return withWallTime(clock, () => Number(nanoseconds() / nanosPerMs), nanoseconds)
}

/** Layer that provides `Clock`. The embedded database has the clock of the process. */
export const layer: Layer.Layer<never, never, Shared | SqlClient.SqlClient> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    if (!(yield* Shared)) return clock
    const steady = unstepped(clock)
    let offsetMs = 0

    const stepOf = MonotonicTime.makeSteps()
    const wasStepped = () => stepOf(clock.currentTimeMillisUnsafe(), MonotonicTime.of(clock)) !== 0
    let isMeasured = false
    /** In monotonic time. */
    let dueAt = -Infinity
    let warnedMs = 0

    const measure = Effect.gen(function* () {
      const measuredMs = yield* measureOffset(steady)
      // What differs less is the error of the measurement, which would have the time go back.
      if (!isMeasured || Math.abs(measuredMs - offsetMs) > stepMs) offsetMs = measuredMs
      isMeasured = true
      dueAt = MonotonicTime.of(clock) + measureEveryMs
      const ofProcessMs = measuredMs + steady.currentTimeMillisUnsafe() - clock.currentTimeMillisUnsafe()
      yield* Metric.update(EngineMetrics.clockOffset, ofProcessMs / 1000)
      if (Math.abs(ofProcessMs - warnedMs) <= warningMs) return
      warnedMs = ofProcessMs
      if (Math.abs(ofProcessMs) > warningMs) {
        yield* Effect.logWarning(
          "The clock of this process differs from the clock of the database. Synchronize both, for example with NTP."
        ).pipe(Effect.annotateLogs({ offsetMs: ofProcessMs }))
      }
    }).pipe(OutageLog.tolerate("clock", "The clock of the database could not be read; retrying"))

    const isDue = () => {
      if (wasStepped()) dueAt = -Infinity
      return MonotonicTime.of(clock) >= dueAt
    }

    wasStepped()
    yield* measure
    yield* Effect.sleep(Duration.millis(checkEveryMs)).pipe(
      Effect.andThen(Effect.suspend(() => (isDue() ? measure : Effect.void))),
      Effect.forever,
      Effect.forkScoped
    )
    return shifted(steady, () => offsetMs)
  })
)
