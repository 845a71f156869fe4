/**
 * Writes what workers have to say in batches.
 *
 * The commit is the expensive part, so it is shared: a batch is written as soon as the batch before it is, and holds
 * whatever came meanwhile. Alone, an entry waits for one turn of the event loop.
 *
 * @since 0.1.0
 */
import { Duration, Effect, Result, Schedule, type Scope } from "effect"
import { SqlError } from "effect/sql"
import * as Patience from "../database/Patience.ts"
import * as Together from "../store/Together.ts"
import * as Refusal from "./Refusal.ts"

const atMost = 500

const pause = Duration.millis(250)

/**
 * How entries are written.
 *
 * **Details**
 *
 * `write` answers every entry of a batch, in its order. While the database is away a batch is tried again for
 * `patienceMs`: what could not be written by then is in other hands, and is given up. An entry that the database refuses
 * does not take the others with it: the batch is written in halves until the entry stands alone, and that one is given
 * up.
 *
 * @category models
 * @since 0.1.0
 */
export interface Writing<Entry, Answer> {
  readonly name: string
  readonly patienceMs: number
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer>, SqlError.SqlError>
}

/**
 * Writes a batch, and says what became of each entry: its answer, or `undefined` when it was given up. It never fails.
 *
 * @category constructors
 * @since 0.1.0
 */
export const patiently = <Entry, Answer>(
  options: Writing<Entry, Answer>
): ((entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer | undefined>>) => {
  type Batch = ReadonlyArray<Entry>
  const whilePatient = Schedule.spaced(pause).pipe(Schedule.upTo({ duration: Duration.millis(options.patienceMs) }))

  const attempt = (batch: Batch) =>
    options.write(batch).pipe(
      Patience.bounded(Patience.engineMs),
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

  const write = (batch: Batch): Effect.Effect<ReadonlyArray<Answer | undefined>> =>
    Effect.flatMap(attempt(batch), (result): Effect.Effect<ReadonlyArray<Answer | undefined>> => {
      if (Result.isSuccess(result)) return Effect.succeed(result.success)
      if (batch.length > 1 && !isOutage(result.failure)) {
        const half = batch.length >> 1
        return Effect.zipWith(write(batch.slice(0, half)), write(batch.slice(half)), (left, right) => [
          ...left,
          ...right
        ])
      }
      return Effect.logError(`${batch.length} of the ${options.name} could not be written`, result.failure).pipe(
        Effect.as(batch.map(() => undefined))
      )
    })

  return write
}

/**
 * Makes the function that hands one entry in and returns the answer to it when it is written, or `undefined` when it was
 * given up. A batch is written as soon as the batch before it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Entry, Answer>(
  options: Writing<Entry, Answer>
): Effect.Effect<(entry: Entry) => Effect.Effect<Answer | undefined>, never, Scope.Scope> =>
  Together.make({ write: patiently(options), isShared: () => true, atOnce: 1, atMost })
