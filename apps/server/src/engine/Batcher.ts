/**
 * Writes what workers have to say in batches.
 *
 * The commit is the expensive part, so it is shared: a batch is written as soon as the batch before it is, and holds
 * whatever came meanwhile. Alone, an entry waits for nothing.
 *
 * @since 0.1.0
 */
import { Deferred, Duration, Effect, Queue, Result, Schedule, type Scope } from "effect"
import { SqlError } from "effect/sql"
import * as Refusal from "./Refusal.ts"

const atMost = 500

const pause = Duration.millis(250)

interface Pending<Entry, Answer> {
  readonly entry: Entry
  readonly written: Deferred.Deferred<Answer | undefined>
}

/**
 * Makes the function that hands one entry in and returns the answer to it when it is written.
 *
 * **Details**
 *
 * `write` answers every entry of a batch, in its order. While the database is away a batch is tried again for
 * `patienceMs`: what could not be written by then is in other hands, and is given up. An entry that the database refuses
 * does not take the others with it: the batch is written in halves until the entry stands alone, and that one is given
 * up. The answer to an entry that was given up is `undefined`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Entry, Answer>(options: {
  readonly name: string
  readonly patienceMs: number
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer>, SqlError.SqlError>
}): Effect.Effect<(entry: Entry) => Effect.Effect<Answer | undefined>, never, Scope.Scope> =>
  Effect.gen(function* () {
    type Batch = ReadonlyArray<Pending<Entry, Answer>>
    const queue = yield* Queue.unbounded<Pending<Entry, Answer>>()
    const whilePatient = Schedule.spaced(pause).pipe(Schedule.upTo({ duration: Duration.millis(options.patienceMs) }))

    const attempt = (batch: Batch) =>
      options.write(batch.map(({ entry }) => entry)).pipe(
        Effect.tapError((error) =>
          Refusal.is(error)
            ? Effect.void
            : Effect.logWarning(`A batch of ${options.name} could not be written and is tried again`, error)
        ),
        Effect.retry({ schedule: whilePatient, while: (error) => !Refusal.is(error) }),
        // A mistake of ours must not stop the writer.
        Effect.catchDefect(Effect.fail),
        Effect.result
      )

    const isOutage = (failure: unknown): boolean => SqlError.isSqlError(failure) && !Refusal.is(failure)

    const settle = (batch: Batch): Effect.Effect<void> =>
      Effect.flatMap(attempt(batch), (result) => {
        if (Result.isSuccess(result)) {
          return Effect.forEach(batch, ({ written }, index) => Deferred.succeed(written, result.success[index]), {
            discard: true
          })
        }
        if (batch.length > 1 && !isOutage(result.failure)) {
          const half = batch.length >> 1
          return Effect.andThen(settle(batch.slice(0, half)), settle(batch.slice(half)))
        }
        return Effect.logError(`${batch.length} of the ${options.name} could not be written`, result.failure).pipe(
          Effect.andThen(
            Effect.forEach(batch, ({ written }) => Deferred.succeed(written, undefined), { discard: true })
          )
        )
      })

    yield* Queue.takeBetween(queue, 1, atMost).pipe(Effect.flatMap(settle), Effect.forever, Effect.forkScoped)

    return (entry) =>
      Effect.flatMap(Deferred.make<Answer | undefined>(), (written) => {
        Queue.offerUnsafe(queue, { entry, written })
        return Deferred.await(written)
      })
  })
