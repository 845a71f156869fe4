/** How many batches a process sends at once. */
import { Effect, Semaphore } from "effect"

/** Archives are in memory until they are uploaded. */
const maxBatches = 2

/** Slots for the batches of all lanes of a process, given in turn. */
export class BatchSlots {
  readonly #slots = Semaphore.makeUnsafe(maxBatches)
  #waiting = 0

  /** Whether a batch waits for a slot. */
  get isContended(): boolean {
    return this.#waiting > 0
  }

  /** Runs an effect in a slot. */
  withSlot<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      let waits = 1
      this.#waiting += 1
      const stopWaiting = Effect.sync(() => {
        this.#waiting -= waits
        waits = 0
      })
      const inSlot = this.#slots.withPermits(1)(Effect.andThen(stopWaiting, effect))
      return Effect.ensuring(inSlot, stopWaiting)
    })
  }
}
