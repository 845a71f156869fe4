/** A clock whose wall time a test steps, as an operator or NTP does. */
import { Clock, Effect } from "effect"
import { shifted } from "../../src/database/DatabaseClock.ts"

/** The clock of `make`. */
export interface SteppedClock {
  readonly clock: Clock.Clock
  /** Sets the wall time forward, or back where it is negative. The monotonic time goes on. */
  readonly step: (milliseconds: number) => void
  /** Runs an effect with this clock. */
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Makes a clock that goes on with the one of the test. */
export const make: Effect.Effect<SteppedClock> = Effect.map(Clock.Clock, (current) => {
  // That of the test begins at the epoch.
  let ahead = Date.UTC(2026, 10, 27)
  const clock = shifted(current, () => ahead)
  return {
    clock,
    step: (milliseconds) => void (ahead += milliseconds),
    run: (effect) => Effect.provideService(effect, Clock.Clock, clock)
  }
})
