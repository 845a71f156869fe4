/**
 * Writes together what arrives together: a few statements are under way at once, and each takes along what came while the
 * others were. What comes alone is written at once, alone.
 *
 * A statement, its round trip and its commit cost as much as many rows do.
 *
 * @since 0.1.0
 */
import { Effect, Exit, Latch, type Scope } from "effect"

/**
 * How entries are written.
 *
 * **Details**
 *
 * `write` answers every entry of a batch, in its order. When it fails for a batch, `isShared` tells whether it would for
 * each entry; if not, each is written alone, so that none suffers for another.
 *
 * @category models
 * @since 0.1.0
 */
export interface Writing<Entry, Answer, E> {
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<ReadonlyArray<Answer>, E>
  readonly isShared: (error: E) => boolean
  /** How many batches are under way at most. */
  readonly atOnce: number
  /** How many entries a batch has at most. */
  readonly atMost: number
}

/**
 * Makes the function that writes one entry, whoever it is written with.
 *
 * **Gotchas**
 *
 * Who is interrupted while its entry is being written hears nothing more, and the entry is written nevertheless. An entry
 * whose turn has not come is dropped.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <Entry, Answer, E>({
  atMost,
  atOnce,
  isShared,
  write
}: Writing<Entry, Answer, E>): Effect.Effect<(entry: Entry) => Effect.Effect<Answer, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    interface Pending {
      readonly entry: Entry
      readonly resume: (answer: Effect.Effect<Answer, E>) => void
    }
    // In the order of their arrival. Who gives up leaves it, so that it holds no more than are waiting.
    const waiting = new Set<Pending>()
    const some = yield* Latch.make(false)

    const settle = (batch: ReadonlyArray<Pending>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(write(batch.map(({ entry }) => entry))), (exit) => {
        if (Exit.isSuccess(exit)) {
          batch.forEach(({ resume }, index) => resume(Effect.succeed(exit.value[index]!)))
          return Effect.void
        }
        const isForAll =
          batch.length === 1 || exit.cause.reasons.some((reason) => reason._tag === "Fail" && isShared(reason.error))
        if (!isForAll) return Effect.forEach(batch, (pending) => settle([pending]), { discard: true })
        for (const { resume } of batch) resume(Effect.failCause(exit.cause))
        return Effect.void
      })

    const next = Effect.suspend(() => {
      const batch = [...waiting].slice(0, atMost)
      for (const pending of batch) waiting.delete(pending)
      if (waiting.size === 0) some.closeUnsafe()
      return batch.length === 0 ? Effect.void : settle(batch)
    })

    yield* some.await.pipe(
      // What else comes in this turn of the event loop comes along.
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
        some.openUnsafe()
        return Effect.sync(() => void waiting.delete(pending))
      })
  })
