/**
 * Monotonic time, which measures how long something takes or is kept. The wall clock may be stepped, and a wait by it lasts as much longer
 * or shorter then.
 */
import { Clock, Effect } from "effect"

/** Returns the monotonic time of a clock in milliseconds. */
export const of = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)

/** The monotonic time in milliseconds. */
export const now: Effect.Effect<number> = Clock.clockWith((clock) => Effect.sync(() => of(clock)))

/** A wall clock that differs by less was not stepped, but slewed, or read a moment later. */
const stepMs = 500

/**
 * Makes a function that tells by how many milliseconds the wall clock was stepped since it was told so last: 0 where it was not. Its arguments
 * are the time of the wall clock and the monotonic time.
 */
export const makeSteps = (): ((wall: number, monotonic: number) => number) => {
  let lead: number | undefined
  return (wall, monotonic) => {
    lead ??= wall - monotonic
    const step = wall - monotonic - lead
    if (Math.abs(step) < stepMs) return 0
    lead += step
    return step
  }
}
