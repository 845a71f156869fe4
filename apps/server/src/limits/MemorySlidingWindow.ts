/**
 * Counts events by key within a sliding window, in memory.
 *
 * Keys without an event in the window are evicted. Beyond a maximum number of keys, those with the oldest events are
 * evicted first.
 */

/** A count of events for each key. Times are in milliseconds. */
export interface MemorySlidingWindow {
  /** Returns how long until the count is below the limit: 0 if it is. */
  readonly waitMs: (key: string, now: number) => number
  readonly add: (key: string, now: number) => void
  /** The number of keys in memory. */
  readonly size: () => number
}

/** Makes a window of `windowMs` milliseconds and `limit` events for each key. */
export const make = (limit: number, windowMs: number, maxKeys = 10_000): MemorySlidingWindow => {
  // Ordered by the last event.
  const events = new Map<string, ReadonlyArray<number>>()

  const recent = (key: string, now: number): ReadonlyArray<number> =>
    (events.get(key) ?? []).filter((at) => at > now - windowMs)

  const evict = (now: number): void => {
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
      evict(now)
    },
    size: () => events.size
  }
}
