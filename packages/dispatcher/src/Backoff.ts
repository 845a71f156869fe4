/**
 * The wait before the next attempt. Pure functions: randomness is an argument.
 *
 * @since 0.1.0
 */
import { DispatcherError } from "./DispatcherError.ts"
import { rejectUnknown } from "./internal/unknownOptions.ts"
import { maxRetryAfterMs } from "./RetryAfter.ts"

/**
 * The waits between 8 attempts, in milliseconds: 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 6 h.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultSchedule: ReadonlyArray<number> = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000
]

/**
 * Returns how many attempts a schedule allows: one more than it has waits.
 *
 * @category getters
 * @since 0.1.0
 */
export const maxAttempts = (schedule: ReadonlyArray<number>): number => schedule.length + 1

/**
 * Spreads the waits of attempts that failed at the same time.
 *
 * **Details**
 *
 * Receives a wait in milliseconds and a number from 0 up to 1, and returns a wait in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type Jitter = (delayMs: number, random: number) => number

/**
 * Makes a wait up to `share` shorter or longer, evenly spread. `proportional(0.2)` of 10 s is 8 s to 12 s.
 *
 * @category jitter
 * @since 0.1.0
 */
export const proportional =
  (share: number): Jitter =>
  (delayMs, random) =>
    delayMs * (1 - share + 2 * share * random)

/**
 * Returns any wait up to the given one, evenly spread. Spreads attempts most, and makes some of them very early.
 *
 * @category jitter
 * @since 0.1.0
 */
export const full: Jitter = (delayMs, random) => delayMs * random

/**
 * Returns the given wait.
 *
 * @category jitter
 * @since 0.1.0
 */
export const none: Jitter = (delayMs) => delayMs

/**
 * Options of `exponential`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExponentialOptions {
  /** The first wait, in milliseconds. */
  readonly baseMs: number
  /** The number of attempts: one more than there are waits. */
  readonly attempts: number
  /**
   * The factor from each wait to the next.
   *
   * @default 2
   */
  readonly factor?: number | undefined
  /**
   * The longest wait, in milliseconds.
   *
   * @default 21_600_000 (6 hours)
   */
  readonly maxMs?: number | undefined
}

const exponentialOptions: ReadonlyArray<keyof ExponentialOptions> = ["attempts", "baseMs", "factor", "maxMs"]

/**
 * Returns a schedule of waits that grow by a factor.
 *
 * **Example** (Doubling)
 *
 * ```ts import.meta.vitest
 * import { Backoff } from "@govoice/dispatcher"
 *
 * Backoff.exponential({ baseMs: 1_000, attempts: 5, maxMs: 5_000 }) // => [1_000, 2_000, 4_000, 5_000]
 * ```
 *
 * @throws {DispatcherError} `invalid_options` for a number out of range.
 * @throws {TypeError} for an option that does not exist.
 * @category constructors
 * @since 0.1.0
 */
export const exponential = (options: ExponentialOptions): ReadonlyArray<number> => {
  rejectUnknown(options, exponentialOptions, "")
  const { attempts, baseMs, factor = 2, maxMs = maxRetryAfterMs } = options
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 1_000) {
    throw new DispatcherError("invalid_options", "attempts must be a whole number from 1 to 1000")
  }
  for (const [name, value] of Object.entries({ baseMs, factor, maxMs })) {
    if (!Number.isFinite(value) || value < 0) {
      throw new DispatcherError("invalid_options", `${name} must be a finite number of at least 0`)
    }
  }
  // Finite, because 0 times infinity is NaN.
  const power = (index: number) => Math.min(factor ** index, Number.MAX_VALUE)
  return Array.from({ length: attempts - 1 }, (_, index) => Math.min(baseMs * power(index), maxMs))
}

/**
 * The arguments of `nextDelay`.
 *
 * @category models
 * @since 0.1.0
 */
export interface NextDelay {
  /** The number of attempts that were made, from 1. */
  readonly attempt: number
  /**
   * The waits between attempts, in milliseconds; one fewer than attempts.
   *
   * @default defaultSchedule
   */
  readonly schedule?: ReadonlyArray<number> | undefined
  /**
   * @default proportional(0.2)
   */
  readonly jitter?: Jitter | undefined
  /**
   * A number from 0 up to 1.
   *
   * @default Math.random
   */
  readonly random?: (() => number) | undefined
  /** The wait that the receiver requested, in milliseconds. Lengthens the wait, up to 6 hours, and never shortens it. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Returns the milliseconds until the next attempt, a whole number, or `undefined` if no attempt is left.
 *
 * **Details**
 *
 * `retryAfterMs` is compared after jitter and rounded up, so that no attempt is earlier than the receiver requested. A value
 * that is not a number of at least 0 changes nothing.
 *
 * **Example** (Waiting after the first attempt)
 *
 * ```ts import.meta.vitest
 * import { Backoff } from "@govoice/dispatcher"
 *
 * Backoff.nextDelay({ attempt: 1, random: () => 0.5 }) // => 5_000
 * Backoff.nextDelay({ attempt: 1, random: () => 0.5, retryAfterMs: 60_000 }) // => 60_000
 * Backoff.nextDelay({ attempt: 8 }) // => undefined
 * ```
 *
 * @throws {DispatcherError} `invalid_options` if the result of `schedule`, `jitter` and `random` is not finite: a timer would not
 * wait at all.
 * @category delays
 * @since 0.1.0
 */
export const nextDelay = (options: NextDelay): number | undefined => {
  const {
    attempt,
    jitter = proportional(0.2),
    random = Math.random,
    retryAfterMs,
    schedule = defaultSchedule
  } = options
  const base = Number.isInteger(attempt) && attempt >= 1 ? schedule[attempt - 1] : undefined
  if (base === undefined) return undefined
  const delay = jitter(base, random())
  if (!Number.isFinite(delay))
    throw new DispatcherError(
      "invalid_options",
      "schedule, jitter and random must result in a finite number of milliseconds"
    )
  const requested = retryAfterMs !== undefined && retryAfterMs >= 0 ? Math.min(retryAfterMs, maxRetryAfterMs) : 0
  return Math.max(Math.round(delay), Math.ceil(requested))
}
