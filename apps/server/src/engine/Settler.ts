/**
 * Writes settlements in batches.
 *
 * The commit is the expensive part, so it is shared: a batch is written as soon as the batch before it is, and holds
 * whatever ended meanwhile. Alone, a settlement waits for nothing.
 *
 * @since 0.1.0
 */
import { Deferred, Duration, Effect, Queue, Schedule, type Scope } from "effect"
import type { DeliveryQueue, Settlement } from "./DeliveryQueue.ts"

const atMost = 500

interface Entry {
  readonly settlement: Settlement
  readonly written: Deferred.Deferred<void>
}

/**
 * Makes the function that settles one delivery and returns when that is written.
 *
 * **Details**
 *
 * While the database is away it is tried again for the length of a lease. What could not be written by then is in other
 * hands, and is given up here.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  queue: DeliveryQueue["Service"],
  leaseMs: number
): Effect.Effect<(settlement: Settlement) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const entries = yield* Queue.unbounded<Entry>()
    const retryWithinLease = Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: Duration.millis(leaseMs) }))

    const writeBatch = Effect.gen(function* () {
      const batch = yield* Queue.takeBetween(entries, 1, atMost)
      yield* queue.settle(batch.map(({ settlement }) => settlement)).pipe(
        Effect.tapCause((cause) => Effect.logWarning("Deliveries could not be settled and are tried again", cause)),
        Effect.sandbox,
        Effect.retry(retryWithinLease),
        Effect.ignore
      )
      for (const { written } of batch) yield* Deferred.succeed(written, undefined)
    })

    yield* Effect.forkScoped(Effect.forever(writeBatch))

    return (settlement) =>
      Effect.flatMap(Deferred.make<void>(), (written) => {
        Queue.offerUnsafe(entries, { settlement, written })
        return Deferred.await(written)
      })
  })
