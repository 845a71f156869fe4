/**
 * What the log says of something that is away for a while: that it went, once in a while that it still is, and that it is
 * back. A line for every request would fill the log and say no more.
 *
 * @since 0.1.0
 */
import { Clock, Effect } from "effect"

/**
 * How often the log says that it is still away, in milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const everyMs = 10_000

/**
 * Something that can be away.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outage {
  /** Somebody needed it in vain. */
  readonly missed: (cause: unknown) => Effect.Effect<void>
  /** Somebody needed it, and it was there. */
  readonly met: Effect.Effect<void>
}

/**
 * Makes the account of one thing, with the sentences for «away» and for «back».
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ away, back }: { readonly away: string; readonly back: string }): Outage => {
  let saidAt = -Infinity
  let isAway = false
  let unsaid = 0

  return {
    missed: (cause) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - saidAt < everyMs) {
          unsaid++
          return Effect.void
        }
        const said = Effect.annotateLogs(Effect.logWarning(away, cause), unsaid === 0 ? {} : { missed_since: unsaid })
        saidAt = now
        isAway = true
        unsaid = 0
        return said
      }),

    met: Effect.suspend(() => {
      if (!isAway) return Effect.void
      isAway = false
      return Effect.logInfo(back)
    })
  }
}
