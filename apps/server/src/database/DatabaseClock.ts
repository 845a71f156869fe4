/**
 * A `Clock` that shows the time of the database, so that records of all processes have comparable times.
 *
 * The offset of the process is measured at start, every hour, and whenever the wall clock of the process was stepped. Leases,
 * claims and schedules do not depend on it: see `StatementTime`.
 */
import { Clock, Duration, Effect, Layer, Metric } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { Shared } from "./Database.ts"

/** An offset above which the process warns, in milliseconds. */
export const warningMs = 2000

const samples = 5
const measureEveryMs = 3_600_000
const checkEveryMs = 10_000
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

/** Returns a clock whose wall time is ahead of another's. Its monotonic time is the same. */
export const shifted = (clock: Clock.Clock, offsetMs: () => number): Clock.Clock => {
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + offsetMs()
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + BigInt(offsetMs()) * nanosPerMs
  return {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe,
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

/** Layer that provides `Clock`. The embedded database has the clock of the process. */
export const layer: Layer.Layer<never, never, Shared | SqlClient.SqlClient> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    if (!(yield* Shared)) return clock
    let offsetMs = 0

    const monotonicMs = () => Number(clock.monotonicTimeNanosUnsafe() / nanosPerMs)
    // How far the wall clock is ahead of the monotonic clock. It changes when the wall clock is stepped.
    const lead = () => clock.currentTimeMillisUnsafe() - monotonicMs()
    let measuredAt = -Infinity
    let measuredLead = 0

    const measure = Effect.gen(function* () {
      measuredLead = lead()
      offsetMs = yield* measureOffset(clock)
      measuredAt = monotonicMs()
      yield* Metric.update(EngineMetrics.clockOffset, offsetMs / 1000)
      if (Math.abs(offsetMs) > warningMs) {
        yield* Effect.logWarning(
          "The clock of this process differs from the clock of the database. Synchronize both, for example with NTP."
        ).pipe(Effect.annotateLogs({ offsetMs }))
      }
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("The clock of the database could not be read; retrying", cause))
    )

    const isDue = () => monotonicMs() - measuredAt >= measureEveryMs || Math.abs(lead() - measuredLead) > stepMs

    yield* measure
    yield* Effect.sleep(Duration.millis(checkEveryMs)).pipe(
      Effect.andThen(Effect.suspend(() => (isDue() ? measure : Effect.void))),
      Effect.forever,
      Effect.forkScoped
    )
    return shifted(clock, () => offsetMs)
  })
)
