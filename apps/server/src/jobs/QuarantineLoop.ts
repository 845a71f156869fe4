/** The loop of a quarantine worker: claim one, process it, until none is due; then poll. */
import { Duration, Effect, Fiber, type Scope } from "effect"
import * as OutageLog from "../database/OutageLog.ts"
import * as QueryTimeout from "../database/QueryTimeout.ts"

/**
 * How long the quarantine process may take to start, in milliseconds. Leases of claims for it are longer by this much.
 */
export const startMs = 10_000

// Quarantine is empty nearly always.
const pollInterval = Duration.seconds(5)

/**
 * Runs the loop in the background until the scope closes. The job that is being processed then may end within `stopWithinMs`.
 */
export const run = <A, E>(options: {
  readonly name: string
  readonly claim: Effect.Effect<A | undefined, E>
  readonly process: (claimed: A) => Effect.Effect<void, unknown>
  readonly stopWithinMs: number
}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const iteration = Effect.gen(function* () {
      const claimed = yield* QueryTimeout.withTimeout(QueryTimeout.engineMs)(options.claim)
      if (claimed === undefined) return false
      yield* options.process(claimed)
      return true
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.as(
          OutageLog.report(cause, Effect.logError(`Quarantine of ${options.name} failed; retrying`, cause)),
          false
        )
      )
    )

    const fiber = yield* Effect.uninterruptible(iteration).pipe(
      Effect.flatMap((hasMore) => (hasMore ? Effect.yieldNow : Effect.sleep(pollInterval))),
      Effect.forever,
      Effect.forkDetach
    )
    yield* Effect.addFinalizer(() =>
      Effect.timeoutOption(Fiber.interrupt(fiber), Duration.millis(options.stopWithinMs))
    )
  })
