/**
 * Limits the effects of each key that run at the same time, in this process. A few more wait for a short time.
 */
import { Effect } from "effect"
import { Throttled } from "./Throttled.ts"

/** The limits of each key. */
export interface ConcurrencyLimitOptions {
  readonly perKey: number
  /** How many wait for a slot. */
  readonly maxWaiting: number
  readonly maxWaitMs: number
}

/** Limits effects by key. */
export interface ConcurrencyLimit {
  /** Runs an effect in a slot of the key. Fails if too many wait, or if no slot became free in time. */
  readonly run: (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Throttled, R>
  /** The number of keys in memory. */
  readonly size: () => number
}

interface Slots {
  running: number
  /** Oldest first. */
  readonly waiting: Set<() => void>
}

/** Makes a limit. */
export const make = ({ maxWaiting, maxWaitMs, perKey }: ConcurrencyLimitOptions): ConcurrencyLimit => {
  const slotsByKey = new Map<string, Slots>()

  const acquire = (key: string): Effect.Effect<void, Throttled> =>
    Effect.callback((resume) => {
      const slots = slotsByKey.get(key) ?? { running: 0, waiting: new Set<() => void>() }
      slotsByKey.set(key, slots)
      if (slots.running < perKey) {
        slots.running++
        return resume(Effect.void)
      }
      const fail = () => resume(Effect.fail(new Throttled({ waitMs: maxWaitMs })))
      if (slots.waiting.size >= maxWaiting) return fail()
      const onTurn = () => {
        clearTimeout(timer)
        resume(Effect.void)
      }
      const timer = setTimeout(() => {
        slots.waiting.delete(onTurn)
        fail()
      }, maxWaitMs)
      slots.waiting.add(onTurn)
    })

  const release = (key: string) =>
    Effect.sync(() => {
      const slots = slotsByKey.get(key)!
      const [next] = slots.waiting
      if (next !== undefined) {
        slots.waiting.delete(next)
        next()
      } else if (--slots.running === 0) slotsByKey.delete(key)
    })

  return {
    // Waiting is not interrupted: it ends in time, and a slot that was passed on is never lost.
    run: (key) => (effect) =>
      Effect.acquireUseRelease(
        acquire(key),
        () => effect,
        () => release(key)
      ),
    size: () => slotsByKey.size
  }
}
