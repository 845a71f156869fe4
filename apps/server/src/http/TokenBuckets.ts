/**
 * Token buckets in memory, one for each key.
 *
 * A bucket that is full again says nothing that a new one would not, so it is forgotten: what is held is bounded by the keys
 * that were used within the time that an empty bucket takes to fill.
 *
 * @since 0.1.0
 */

/**
 * One request for tokens. Times are in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Taking {
  readonly key: string
  readonly tokens: number
  /** What a full bucket holds. */
  readonly limit: number
  /** How long one token takes to come back. */
  readonly refillMs: number
  /** Whether more may be taken than there is. */
  readonly allowOverflow: boolean
}

/**
 * Buckets by key.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenBuckets {
  /**
   * Takes tokens at a time: what remains, below zero for what was not there, and how long ago the token that is coming back
   * began to.
   */
  readonly take: (taking: Taking, now: number) => readonly [remaining: number, elapsedMs: number]
  /** How many buckets are held. */
  readonly size: () => number
}

interface Bucket {
  readonly tokens: number
  /** The last whole token came back then. */
  readonly filledAt: number
  readonly fullAt: number
}

/**
 * Makes buckets, all full.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): TokenBuckets => {
  // In the order of their last use.
  const buckets = new Map<string, Bucket>()

  const forget = (now: number): void => {
    for (const [key, { fullAt }] of buckets) {
      if (fullAt > now) return
      buckets.delete(key)
    }
  }

  return {
    take: ({ allowOverflow, key, limit, refillMs, tokens }, now) => {
      const held = buckets.get(key)
      // A clock that was set back must not keep anybody waiting for the time that it had shown before.
      const since = held === undefined ? now : Math.min(now, held.filledAt)
      const refilled = Math.floor((now - since) / refillMs)
      const before = held === undefined ? limit : Math.min(limit, held.tokens + refilled)
      const filledAt = held === undefined || before >= limit ? now : since + refilled * refillMs
      const remaining = before - tokens

      const after = allowOverflow || remaining >= 0 ? remaining : before
      buckets.delete(key)
      buckets.set(key, { tokens: after, filledAt, fullAt: filledAt + (limit - after) * refillMs })
      forget(now)
      return [remaining, now - filledAt]
    },
    size: () => buckets.size
  }
}
