/** When the loops of this process made progress last: a loop that has stopped is found by asking, whatever stopped it. */
import { Context, Effect, type Scope } from "effect"
import type { WorkQueue } from "../observability/EngineMetrics.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"

/** How long a loop may go without an iteration that succeeds, in milliseconds. A statement ends after half of it. */
export const stalledAfterMs = 60_000

/** The monotonic time of the last iteration that succeeded, of each loop that runs. */
export const WorkerProgress = Context.Reference<Map<WorkQueue, number>>("@govoice/server/jobs/WorkerProgress", {
  defaultValue: () => new Map()
})

/** Records progress of a loop. */
export const record = (loop: WorkQueue): Effect.Effect<void> =>
  Effect.zipWith(WorkerProgress, MonotonicTime.now, (progress, now) => void progress.set(loop, now))

/** Watches a loop until the scope closes. */
export const watch = (loop: WorkQueue): Effect.Effect<void, never, Scope.Scope> =>
  Effect.acquireRelease(record(loop), () => Effect.map(WorkerProgress, (progress) => void progress.delete(loop)))

/** The loops that have stopped. */
export const stalled: Effect.Effect<ReadonlyArray<WorkQueue>> = Effect.zipWith(
  WorkerProgress,
  MonotonicTime.now,
  (progress, now) => [...progress].filter(([, at]) => now - at >= stalledAfterMs).map(([loop]) => loop)
)
