/**
 * Counts what happened to a key within the last while.
 *
 * It holds a bounded number of keys: when there are too many, the ones that were quiet longest are forgotten.
 *
 * @since 0.1.0
 */

/**
 * A count of events for each key.
 *
 * @category models
 * @since 0.1.0
 */
export interface SlidingWindow {
  /** How long until fewer than the limit remain, in milliseconds: 0 while there is room. */
  readonly waitMs: (key: string, now: number) => number
  readonly add: (key: string, now: number) => void
}

/**
 * Makes a window of `windowMs` milliseconds that has room for `limit` events of each key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (limit: number, windowMs: number, maxKeys = 10_000): SlidingWindow => {
  const events = new Map<string, ReadonlyArray<number>>()

  const recent = (key: string, now: number): ReadonlyArray<number> =>
    (events.get(key) ?? []).filter((at) => at > now - windowMs)

  return {
    waitMs: (key, now) => {
      const oldest = recent(key, now).at(-limit)
      return oldest === undefined ? 0 : oldest + windowMs - now
    },
    add: (key, now) => {
      const times = [...recent(key, now), now].slice(-limit)
      events.delete(key)
      events.set(key, times)
      const [quietest] = events.keys()
      if (events.size > maxKeys && quietest !== undefined) events.delete(quietest)
    }
  }
}
