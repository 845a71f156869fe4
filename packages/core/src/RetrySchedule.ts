/**
 * When the next attempt is made: a list of waits, spread a little, that a receiver may lengthen.
 *
 * Pure: randomness is an argument.
 *
 * @since 0.1.0
 */

/**
 * The waits between the attempts of a delivery, in milliseconds: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 6 h.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultWaits: ReadonlyArray<number> = [
  5_000,
  30_000,
  2 * 60_000,
  10 * 60_000,
  30 * 60_000,
  2 * 3_600_000,
  6 * 3_600_000
]

/**
 * The most that `Retry-After` can ask for, in milliseconds: 6 h.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxRetryAfter = 6 * 3_600_000

/**
 * How far a wait may fall from the list, as a part of it, in either direction.
 *
 * @category constants
 * @since 0.1.0
 */
export const jitter = 0.2

/**
 * The number of attempts that a list of waits allows: one more than there are waits.
 *
 * @category getters
 * @since 0.1.0
 */
export const maxAttempts = (waits: ReadonlyArray<number>): number => waits.length + 1

/**
 * Returns how many milliseconds to wait after an attempt that failed, or `undefined` when it was the last.
 *
 * **Details**
 *
 * `attempt` counts the attempts made, from 1. `random` is in [0, 1). A `retryAfterMs` lengthens the wait, up to
 * `maxRetryAfter`, and never shortens it; one that is negative or not a number changes nothing.
 *
 * **Example** (Waiting after a failed attempt)
 *
 * ```ts import.meta.vitest
 * import { RetrySchedule } from "@govoice/core"
 *
 * RetrySchedule.nextWait({ attempt: 1, random: 0.5 }) // => 5_000
 * RetrySchedule.nextWait({ attempt: 1, random: 0.5, retryAfterMs: 60_000 }) // => 60_000
 * RetrySchedule.nextWait({ attempt: 8, random: 0.5 }) // => undefined
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const nextWait = (options: {
  readonly attempt: number
  readonly random: number
  readonly waits?: ReadonlyArray<number>
  readonly retryAfterMs?: number | undefined
}): number | undefined => {
  const wait = (options.waits ?? defaultWaits)[options.attempt - 1]
  if (wait === undefined) return undefined
  const spread = Math.round(wait * (1 - jitter + 2 * jitter * options.random))
  // Asked this way round, NaN falls through to the wait of the list.
  return options.retryAfterMs !== undefined && options.retryAfterMs > spread
    ? Math.max(spread, Math.min(Math.ceil(options.retryAfterMs), maxRetryAfter))
    : spread
}
