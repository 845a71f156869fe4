/**
 * Writes what workers have to say in batches.
 *
 * The commit is the expensive part, so it is shared: a batch is written as soon as the batch before it is, and holds
 * whatever came meanwhile. Alone, an entry waits for one turn of the event loop.
 *
 * @since 0.1.0
 */
import { Duration, Effect, Latch, Result, Schedule, type Scope } from "effect"
import { SqlError } from "effect/sql"
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
 * Makes the function that hands one entry in and waits for nothing.
 *
 * **Details**
 *
 * `answered` is told of all entries that were handed in, some at a time: with their answers when they were written,
 * without when they were given up.
 *
 * @category constructors
 * @since 0.1.0
 */
export const collect = <Entry, Answer>(
  options: Writing<Entry, Answer> & {
    readonly answered: (
      entries: ReadonlyArray<Entry>,
      answers: ReadonlyArray<Answer> | undefined
    ) => Effect.Effect<void>
  }
): Effect.Effect<(entry: Entry) => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    type Batch = ReadonlyArray<Entry>
    let waiting: Array<Entry> = []
    const some = yield* Latch.make(false)
    const whilePatient = Schedule.spaced(pause).pipe(Schedule.upTo({ duration: Duration.millis(options.patienceMs) }))

    const attempt = (batch: Batch) =>
      options.write(batch).pipe(
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
        if (Result.isSuccess(result)) return options.answered(batch, result.success)
        if (batch.length > 1 && !isOutage(result.failure)) {
          const half = batch.length >> 1
          return Effect.andThen(settle(batch.slice(0, half)), settle(batch.slice(half)))
        }
        return Effect.logError(`${batch.length} of the ${options.name} could not be written`, result.failure).pipe(
          Effect.andThen(options.answered(batch, undefined))
        )
      })

    const next = Effect.suspend(() => {
      const batch = waiting.slice(0, atMost)
      waiting = waiting.slice(atMost)
      if (waiting.length === 0) some.closeUnsafe()
      return settle(batch)
    })

    yield* some.await.pipe(
      // What else ends in this turn of the event loop comes along.
      Effect.andThen(Effect.yieldNow),
      Effect.andThen(next),
      Effect.forever,
      Effect.forkScoped
    )

    return (entry) => {
      waiting.push(entry)
      some.openUnsafe()
    }
  })

/**
 * Makes the function that hands one entry in and returns the answer to it when it is written, or `undefined` when it was
 * given up.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Entry, Answer>({
  write,
  ...options
}: Writing<Entry, Answer>): Effect.Effect<(entry: Entry) => Effect.Effect<Answer | undefined>, never, Scope.Scope> => {
  interface Pending {
    readonly entry: Entry
    readonly resume: (answer: Effect.Effect<Answer | undefined>) => void
  }
  const collected = collect<Pending, Answer>({
    ...options,
    write: (batch) => write(batch.map(({ entry }) => entry)),
    answered: (batch, answers) =>
      Effect.sync(() => batch.forEach(({ resume }, index) => resume(Effect.succeed(answers?.[index]))))
  })
  return Effect.map(
    collected,
    (add) => (entry) => Effect.callback<Answer | undefined>((resume) => add({ entry, resume }))
  )
}
