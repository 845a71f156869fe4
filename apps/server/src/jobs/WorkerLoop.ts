/**
 * The loop of a worker: an iteration, then sleep until something is due, a notification arrives, or the poll interval ends.
 */
import { Clock, Duration, Effect, type Scope } from "effect"
import * as OutageLog from "../database/OutageLog.ts"
import type * as EngineMetrics from "../observability/EngineMetrics.ts"
import { type Notifier, pollIntervalMs } from "./Notifier.ts"
import * as WorkerProgress from "./WorkerProgress.ts"

/**
 * The result of an iteration.
 *
 * - `again`: there is more to do at once.
 * - `backoff`: another worker has locked the rows; retry in a few milliseconds.
 * - `sleepUntil`: nothing to do before this time, in milliseconds since the epoch, unless a notification arrives.
 */
export type Iteration = "again" | "backoff" | { readonly sleepUntil: number }

const backoffMs = 5

// Workers recover by themselves when the database is back.
const failureDelay = Duration.seconds(1)

/**
 * Runs iterations in the background until the scope closes. An iteration in progress is finished first.
 *
 * `woken` tells an iteration that a notification arrived or that there is more to do. An iteration that fails is logged
 * and retried.
 */
export const run = (options: {
  readonly kind: EngineMetrics.WorkQueue
  readonly iterate: (woken: boolean) => Effect.Effect<Iteration, unknown>
  readonly notifier: Notifier["Service"]
}): Effect.Effect<void, never, Scope.Scope> => {
  let woken = true

  const sleep = Effect.fnUntraced(function* (result: Iteration) {
    if (result === "again" || result === "backoff") {
      woken = true
      return result === "again" ? undefined : yield* Effect.sleep(backoffMs)
    }
    const now = yield* Clock.currentTimeMillis
    woken = yield* options.notifier.wait(options.kind, Math.min(result.sleepUntil - now, pollIntervalMs))
  })

  const iteration = Effect.suspend(() => options.iterate(woken)).pipe(
    Effect.uninterruptible,
    Effect.tap(WorkerProgress.record(options.kind)),
    Effect.flatMap(sleep),
    Effect.as(true),
    OutageLog.tolerate(options.kind, `Worker iteration for ${options.kind} failed; retrying`),
    Effect.flatMap((succeeded) => {
      if (succeeded) return Effect.void
      woken = true
      return Effect.sleep(failureDelay)
    })
  )

  return Effect.andThen(WorkerProgress.watch(options.kind), Effect.asVoid(Effect.forkScoped(Effect.forever(iteration))))
}
