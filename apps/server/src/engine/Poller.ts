/**
 * The loop of a worker: a round of work, then rest until something is due, somebody wakes it, or a sweep is.
 *
 * @since 0.1.0
 */
import { Clock, Duration, Effect, type Scope } from "effect"
import type { Kind, Wakeups } from "./Wakeups.ts"

// A wake-up that was lost costs this much at most.
const sweepMs = 1000

// The database may be away for a while: workers come back by themselves.
const restAfterFailure = Duration.seconds(1)

/**
 * Runs rounds in the background until the scope closes. A round that is under way is finished first.
 *
 * **Details**
 *
 * `round` says whether there may be more to do at once. What was due when it began and was not taken is held back, by a
 * bound or by another worker, and somebody will say when it is free; `nextDueAfter` is asked for what becomes due later.
 * A round that fails is logged and tried again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const run = (options: {
  readonly kind: Kind
  readonly round: Effect.Effect<boolean>
  readonly nextDueAfter: (milliseconds: number) => Effect.Effect<number | undefined>
  readonly wakeups: Wakeups["Service"]
}): Effect.Effect<void, never, Scope.Scope> => {
  const turn = Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    if (yield* Effect.uninterruptible(options.round)) return
    const dueAt = (yield* options.nextDueAfter(begun)) ?? Infinity
    const now = yield* Clock.currentTimeMillis
    yield* options.wakeups.wait(options.kind, Math.min(dueAt - now, sweepMs))
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.logError(`A round of work on ${options.kind} failed and is tried again`, cause).pipe(
        Effect.andThen(Effect.sleep(restAfterFailure))
      )
    )
  )

  return Effect.asVoid(Effect.forkScoped(Effect.forever(turn)))
}
