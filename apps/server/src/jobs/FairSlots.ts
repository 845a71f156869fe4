/**
 * Runs effects in a few slots. Groups of effects share the time of the slots fairly, and wait in a queue with a maximum.
 */
import { Data, Effect } from "effect"
import * as FairQueue from "./FairQueue.ts"

/** Too many effects are waiting: of the group, or of all groups together. */
export class SlotsFull extends Data.TaggedError("SlotsFull")<{ readonly isGroup: boolean }> {}

/** The limits of the slots. */
export interface FairSlotsOptions {
  readonly slots: number
  /** How many wait. */
  readonly maxJobs: number
  readonly maxJobsPerGroup: number
}

/** Runs effects. */
export interface FairSlots {
  /** Runs an effect when it is the turn of its group. An effect that is interrupted while it waits leaves the queue. */
  readonly run: (group: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SlotsFull, R>
  /** Whether the next effect runs at once. */
  readonly isFree: () => boolean
}

type Charge = (milliseconds: number) => void

/** Makes slots. */
export const make = (options: FairSlotsOptions): FairSlots => {
  const queue = FairQueue.make<(charge: Charge) => void>(options)
  let running = 0

  const dispatch = (): void => {
    while (running < options.slots) {
      const taken = queue.take()
      if (taken === undefined) return
      running++
      taken.job(taken.charge)
    }
  }

  const acquire = (group: string): Effect.Effect<Charge, SlotsFull> =>
    Effect.callback((resume) => {
      const job = (charge: Charge) => resume(Effect.succeed(charge))
      const added = queue.add(group, job)
      if (added !== "added") return resume(Effect.fail(new SlotsFull({ isGroup: added === "group-full" })))
      dispatch()
      return Effect.sync(() => queue.remove(group, job))
    })

  return {
    run: (group) => (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(acquire(group)), (charge) => {
          const startedAt = performance.now()
          return Effect.ensuring(
            restore(effect),
            Effect.sync(() => {
              running--
              charge(performance.now() - startedAt)
              dispatch()
            })
          )
        })
      ),
    isFree: () => running < options.slots && queue.size() === 0
  }
}
