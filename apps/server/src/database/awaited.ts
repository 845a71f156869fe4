/** Has the parts of a start that read the database wait for it: it may be unreachable, or have a table that is locked. */
import { Effect, Schedule } from "effect"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import * as StartProgress from "../observability/StartProgress.ts"
import * as SqlErrors from "./SqlErrors.ts"

const tryEvery = "500 millis"

/**
 * Repeats a part of the start for as long as a start may wait for the database, while it fails for a reason that passes, which
 * probes are told. Errors that only an operator can correct fail at once.
 */
export const awaited = <A, E, R>(part: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const progress = yield* StartProgress.StartProgress
    const { waitMs } = progress
    const startedAt = yield* MonotonicTime.now
    let failures = 0
    const attempt = Effect.tapError(part, (error) => {
      if (!SqlErrors.isPassing(error) || waitMs === 0) return Effect.void
      progress.reason = SqlErrors.isLockTimeout(error) ? StartProgress.lockedTable : StartProgress.database
      return failures++ === 0
        ? Effect.annotateLogs(Effect.logWarning(`Database unavailable; waiting up to ${waitMs} ms`), {
            reason: reasonOf(error)
          })
        : Effect.void
    })
    const result = yield* Effect.retry(attempt, {
      schedule: Schedule.spaced(tryEvery),
      while: (error) => Effect.map(MonotonicTime.now, (now) => SqlErrors.isPassing(error) && now - startedAt < waitMs)
    })
    progress.reason = StartProgress.starting
    if (failures > 0) yield* Effect.annotateLogs(Effect.logInfo("Database available"), { failures })
    return result
  })
