/** Logs an outage of a dependency: a line when it begins, one when it ends, and where asked for one every 30 seconds between. */
import { Effect } from "effect"
import * as MonotonicTime from "./MonotonicTime.ts"
import { reasonOf } from "./reasonOf.ts"

/** Least time between two lines about an outage, in milliseconds. */
export const intervalMs = 30_000

/** Counts failures and successes of one dependency, and logs few of them. */
export interface ThrottledLog {
  /** Records a failure. */
  readonly failure: (error: unknown) => Effect.Effect<void>
  /** Records a success, which ends an outage. */
  readonly success: Effect.Effect<void>
  /** Since when the dependency has been down, and when and how it failed last, in monotonic time; `undefined` while it is up. */
  readonly outage: () =>
    | { readonly sinceMs: number; readonly lastFailureMs: number; readonly lastError: unknown }
    | undefined
}

/** The messages of a log. */
export interface ThrottledLogOptions {
  readonly down: string
  readonly recovered: string
  /** Whether an outage has a line every 30 seconds while it lasts. Defaults to `true`. */
  readonly repeats?: boolean
  /** Fields of every line. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** Makes the log of one dependency. Two outages within 30 seconds are logged as one. */
export const make = ({ down, fields, recovered, repeats = true }: ThrottledLogOptions): ThrottledLog => {
  let loggedMs = -Infinity
  let outage:
    | {
        readonly sinceMs: number
        lastFailureMs: number
        lastError: unknown
        failures: number
        isLogged: boolean
      }
    | undefined

  return {
    outage: () => outage,

    failure: (error) =>
      Effect.flatMap(MonotonicTime.now, (now) => {
        outage ??= { sinceMs: now, lastFailureMs: now, lastError: error, failures: 0, isLogged: false }
        outage.lastFailureMs = now
        outage.lastError = error
        outage.failures++
        if (now - loggedMs < intervalMs || (outage.isLogged && !repeats)) return Effect.void
        loggedMs = now
        outage.isLogged = true
        return Effect.annotateLogs(Effect.logWarning(down), {
          ...fields,
          reason: reasonOf(error),
          failures: outage.failures
        })
      }),

    success: Effect.suspend(() => {
      if (outage === undefined) return Effect.void
      const { failures, isLogged, sinceMs } = outage
      outage = undefined
      if (!isLogged) return Effect.void
      return Effect.flatMap(MonotonicTime.now, (now) =>
        Effect.annotateLogs(Effect.logInfo(recovered), { ...fields, failures, milliseconds: now - sinceMs })
      )
    })
  }
}
