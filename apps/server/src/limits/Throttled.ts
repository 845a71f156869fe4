/**
 * The failure of a caller that has made too many attempts.
 */
import { Data, Effect } from "effect"

/** There were too many attempts. The next one has to wait. */
export class Throttled extends Data.TaggedError("Throttled")<{ readonly waitMs: number }> {}

/** Fails unless the wait is 0. */
export const failWhileWaiting = (waitMs: number): Effect.Effect<void, Throttled> =>
  waitMs === 0 ? Effect.void : Effect.fail(new Throttled({ waitMs }))
