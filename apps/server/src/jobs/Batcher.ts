/**
 * Batches concurrent writes: a few batches are in progress at once, and each new one takes the entries that arrived
 * meanwhile. A single entry is written at once.
 *
 * A statement with its round trip and commit costs as much as many rows.
 */
import { Effect, Exit, Latch, type Scope } from "effect"

/** How many entries of a batch that failed are written at once. */
const retriedAtOnce = 8

/**
 * How entries are written.
 *
 * `write` returns a result for every entry, in order. When a batch fails and `isShared` is false for the error, entries
 * are retried individually.
 */
export interface BatcherOptions<Entry, Answer, E> {
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly isShared: (error: E) => boolean
  /** The maximum number of batches in progress. */
  readonly atOnce: number
  /** The maximum number of entries in a batch. */
  readonly atMost: number
}

/**
 * Makes the function that adds an entry to the next batch and returns its result.
 *
 * Interrupting a caller does not cancel a write in progress. It removes an entry that is still waiting.
 */
export const make = <Entry, Answer, E>({
  atMost,
  atOnce,
  isShared,
  write
}: BatcherOptions<Entry, Answer, E>): Effect.Effect<(entry: Entry) => Effect.Effect<Answer, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    interface Pending {
      readonly entry: Entry
      readonly resume: (answer: Effect.Effect<Answer, E>) => void
    }
    // In order of arrival. Interrupted callers remove their entries.
    const waiting = new Set<Pending>()
    const nonEmpty = yield* Latch.make(false)

    const writeBatch = (batch: ReadonlyArray<Pending>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(write(batch.map(({ entry }) => entry))), (exit) => {
        if (Exit.isSuccess(exit)) {
          batch.forEach(({ resume }, index) => resume(Effect.succeed(exit.value[index]!)))
          return Effect.void
        }
        const isForAll =
          batch.length === 1 || exit.cause.reasons.some((reason) => reason._tag === "Fail" && isShared(reason.error))
        if (!isForAll) {
          return Effect.forEach(batch, (pending) => writeBatch([pending]), {
            concurrency: retriedAtOnce,
            discard: true
          })
        }
        for (const { resume } of batch) resume(Effect.failCause(exit.cause))
        return Effect.void
      })

    const next = Effect.suspend(() => {
      const batch = [...waiting].slice(0, atMost)
      for (const pending of batch) waiting.delete(pending)
      if (waiting.size === 0) nonEmpty.closeUnsafe()
      return batch.length === 0 ? Effect.void : writeBatch(batch)
    })

    yield* nonEmpty.await.pipe(
      // Entries that arrive in the same turn of the event loop share the batch.
      Effect.andThen(Effect.yieldNow),
      Effect.andThen(next),
      Effect.forever,
      Effect.forkScoped,
      Effect.replicateEffect(atOnce, { discard: true })
    )

    return (entry) =>
      Effect.callback<Answer, E>((resume) => {
        const pending: Pending = { entry, resume }
        waiting.add(pending)
        nonEmpty.openUnsafe()
        return Effect.sync(() => void waiting.delete(pending))
      })
  })
