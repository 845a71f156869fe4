/** Logs an outage of a dependency: a line when it begins, one every 30 seconds while it lasts, one when it ends. */
import { Clock, Effect } from "effect"
import { reasonOf } from "./reasonOf.ts"

/** Least time between two lines about an outage, in milliseconds. */
export const intervalMs = 30_000

/** Counts failures and successes of one dependency, and logs few of them. */
export interface ThrottledLog {
  /** Records a failure. */
  readonly failure: (error: unknown) => Effect.Effect<void>
  /** Records a success, which ends an outage. */
  readonly success: Effect.Effect<void>
  /** Since when the dependency has been down, and when it failed last; `undefined` while it is up. */
  readonly outage: () => { readonly sinceMs: number; readonly lastFailureMs: number } | undefined
}

/** Makes the log of one dependency with its messages. */
export const make = ({ down, recovered }: { readonly down: string; readonly recovered: string }): ThrottledLog => {
  let loggedMs = -Infinity
  let outage: { readonly sinceMs: number; lastFailureMs: number; failures: number; isLogged: boolean } | undefined

  return {
    outage: () => outage,

    failure: (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        outage ??= { sinceMs: now, lastFailureMs: now, failures: 0, isLogged: false }
        outage.lastFailureMs = now
        outage.failures++
        if (now - loggedMs < intervalMs) return Effect.void
        loggedMs = now
        outage.isLogged = true
        return Effect.annotateLogs(Effect.logWarning(down), { reason: reasonOf(error), failures: outage.failures })
      }),

    success: Effect.suspend(() => {
      if (outage === undefined) return Effect.void
      const { failures, isLogged, sinceMs } = outage
      outage = undefined
      if (!isLogged) return Effect.void
      return Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.annotateLogs(Effect.logInfo(recovered), { failures, milliseconds: now - sinceMs })
      )
    })
  }
}
