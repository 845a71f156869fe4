/**
 * Counts what happened to a key within the last while.
 *
 * It holds the keys that something happened to within that while, and no more than a bounded number of them: when there are
 * too many, the ones that were quiet longest are forgotten.
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
  /** How many keys are held. */
  readonly size: () => number
}

/**
 * Makes a window of `windowMs` milliseconds that has room for `limit` events of each key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (limit: number, windowMs: number, maxKeys = 10_000): SlidingWindow => {
  // In the order of their last event.
  const events = new Map<string, ReadonlyArray<number>>()

  const recent = (key: string, now: number): ReadonlyArray<number> =>
    (events.get(key) ?? []).filter((at) => at > now - windowMs)

  const forget = (now: number): void => {
    for (const [key, times] of events) {
      if (events.size <= maxKeys && times.at(-1)! > now - windowMs) return
      events.delete(key)
    }
  }

  return {
    waitMs: (key, now) => {
      const oldest = recent(key, now).at(-limit)
      return oldest === undefined ? 0 : oldest + windowMs - now
    },
    add: (key, now) => {
      const times = [...recent(key, now), now].slice(-limit)
      events.delete(key)
      events.set(key, times)
      forget(now)
    },
    size: () => events.size
  }
}
