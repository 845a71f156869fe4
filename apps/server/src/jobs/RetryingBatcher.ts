/** Batches worker writes, and retries a batch while the database is unavailable. */
import { Cause, Duration, Effect, Result, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import * as OutageLog from "../database/OutageLog.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import * as Batcher from "./Batcher.ts"
import * as SqlErrors from "../database/SqlErrors.ts"

const maxBatch = 500

const pause = Duration.millis(250)

/**
 * How entries are written.
 *
 * `write` returns a result for every entry, in order. A batch that fails with a transient error is retried for
 * `retryForMs`, after which its leases are lost, and given up. A batch that fails with a permanent error is split in halves
 * until the entry at fault is alone, and only that one is given up.
 */
export interface RetryOptions<Entry, Answer> {
  readonly name: string
  readonly retryForMs: number
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer>, SqlError.SqlError>
}

/**
 * Makes the function that writes a batch and returns the result of each entry, or `undefined` if it was given up. It never
 * fails.
 */
export const retrying = <Entry, Answer>(
  options: RetryOptions<Entry, Answer>
): ((entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer | undefined>>) => {
  type Batch = ReadonlyArray<Entry>
  const whileRetrying = Schedule.spaced(pause).pipe(Schedule.upTo({ duration: Duration.millis(options.retryForMs) }))

  const attempt = (batch: Batch) =>
    options.write(batch).pipe(
      Effect.tap(OutageLog.success),
      Effect.tapError((error) => OutageLog.report(Cause.fail(error), Effect.void)),
      Effect.retry({ schedule: whileRetrying, while: SqlErrors.isTransient }),
      // A defect must not stop the batcher.
      Effect.catchDefect(Effect.fail),
      Effect.result
    )

  const write = (batch: Batch): Effect.Effect<ReadonlyArray<Answer | undefined>> =>
    Effect.flatMap(attempt(batch), (result): Effect.Effect<ReadonlyArray<Answer | undefined>> => {
      if (Result.isSuccess(result)) return Effect.succeed(result.success)
      if (batch.length > 1 && !SqlErrors.isTransient(result.failure)) {
        const half = batch.length >> 1
        return Effect.zipWith(write(batch.slice(0, half)), write(batch.slice(half)), (left, right) => [
          ...left,
          ...right
        ])
      }
      const { failure } = result
      const giveUp = SqlErrors.isTransient(failure)
        ? Effect.annotateLogs(Effect.logError(`Batch of ${options.name} given up`), { reason: reasonOf(failure) })
        : Effect.logError(`Batch of ${options.name} given up`, failure)
      return giveUp.pipe(Effect.annotateLogs({ entries: batch.length }), Effect.as(batch.map(() => undefined)))
    })

  return write
}

/**
 * Makes the function that adds an entry to the next batch and returns its result, or `undefined` if it was given up. A
 * batch is written as soon as the one before it is.
 */
export const make = <Entry, Answer>(
  options: RetryOptions<Entry, Answer>
): Effect.Effect<(entry: Entry) => Effect.Effect<Answer | undefined>, never, Scope.Scope> =>
  Batcher.make({ write: retrying(options), isShared: () => true, atOnce: 1, atMost: maxBatch })
