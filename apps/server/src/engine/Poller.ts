/**
 * The loop of a worker: a round of work, then rest until something is due, somebody wakes it, or a sweep is.
 *
 * @since 0.1.0
 */
import { Clock, Duration, Effect, type Scope } from "effect"
import * as Patience from "../database/Patience.ts"
import type { Kind, Wakeups } from "./Wakeups.ts"

/**
 * How a round ended.
 *
 * **Details**
 *
 * - `again`: there is more to do at once.
 * - `soon`: somebody else is at it and will be done in a moment.
 * - `restUntil`: nothing to do before then, in milliseconds since the epoch, unless somebody wakes the worker.
 *
 * @category models
 * @since 0.1.0
 */
export type Round = "again" | "soon" | { readonly restUntil: number }

/**
 * How often a worker looks for work that nobody told it of. A wake-up that was lost costs this much at most.
 *
 * @category constants
 * @since 0.1.0
 */
export const sweepMs = 1000

const soonMs = 5

// The database may be away for a while: workers come back by themselves.
const restAfterFailure = Duration.seconds(1)

/**
 * Runs rounds in the background until the scope closes. A round that is under way is finished first.
 *
 * **Details**
 *
 * A round is told whether somebody said that there is work, or its time has come. One that fails is logged and tried
 * again. So is one that the database does not answer: what it has claimed, its lease brings back.
 *
 * @category constructors
 * @since 0.1.0
 */
export const run = (options: {
  readonly kind: Kind
  readonly round: (woken: boolean) => Effect.Effect<Round, unknown>
  readonly wakeups: Wakeups["Service"]
}): Effect.Effect<void, never, Scope.Scope> => {
  let woken = true

  const rest = Effect.fnUntraced(function* (round: Round) {
    if (round === "again" || round === "soon") {
      woken = true
      return round === "again" ? undefined : yield* Effect.sleep(soonMs)
    }
    const now = yield* Clock.currentTimeMillis
    woken = yield* options.wakeups.wait(options.kind, Math.min(round.restUntil - now, sweepMs))
  })

  const turn = Effect.suspend(() => options.round(woken)).pipe(
    Patience.bounded(Patience.engineMs),
    Effect.uninterruptible,
    Effect.flatMap(rest),
    Effect.catchCause((cause) =>
      Effect.logWarning(`A round of work on ${options.kind} failed and is tried again`, cause).pipe(
        Effect.andThen(Effect.sleep(restAfterFailure)),
        Effect.andThen(Effect.sync(() => (woken = true)))
      )
    )
  )

  return Effect.asVoid(Effect.forkScoped(Effect.forever(turn)))
}
