/**
 * The failure of a caller that has used up a limit.
 */
import { Data, Effect } from "effect"
import type { WindowOptions } from "./SlidingWindows.ts"

/** A limit as responses name it: `quota` of the unit, in each window if there is one. */
export interface NamedLimit {
  readonly name: string
  readonly quota: number
  /** The unit of the IETF draft "RateLimit header fields for HTTP". Without it, requests. */
  readonly unit?: "concurrent-requests" | "content-bytes"
  readonly windowMs?: number
}

/** A limit is used up. The next attempt has to wait. */
export class Throttled extends Data.TaggedError("Throttled")<{ readonly limit: NamedLimit; readonly waitMs: number }> {}

/** Returns the failure of a caller that has used up a window. */
export const byWindow = ({ limit: quota, name, windowMs }: WindowOptions, waitMs: number): Throttled =>
  new Throttled({ limit: { name, quota, windowMs }, waitMs })

/** Makes the function that fails unless the wait for a window is 0. */
export const failWhileWaiting =
  (options: WindowOptions) =>
  (waitMs: number): Effect.Effect<void, Throttled> =>
    waitMs === 0 ? Effect.void : Effect.fail(byWindow(options, waitMs))
