/**
 * Batches concurrent writes: a few batches are in progress at once, and each new one takes the entries that arrived
 * meanwhile. A single entry is written at once. What keeps the entries of one owner waiting keeps no others.
 *
 * A statement with its round trip and commit costs as much as many rows.
 */
import { Effect, Exit, FiberSet, Latch, type Scope, Semaphore } from "effect"

/** How many entries of a batch that failed are written at once. */
const retriedAtOnce = 8

/** How many entries that are written apart are in progress at once. */
const apartAtOnce = 2

/** How often an owner without entries is looked at, and how many times before its next entry shares a batch again. */
const idle = { every: "100 millis", times: 100 } as const

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
  /**
   * Errors that may concern all entries of an owner, and take long. Its entries are written apart from those of others then, one at
   * a time, until one succeeds.
   */
  readonly owner?: {
    readonly of: (entry: Entry) => string
    readonly concerns: (error: E) => boolean
  }
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
  owner,
  write
}: BatcherOptions<Entry, Answer, E>): Effect.Effect<(entry: Entry) => Effect.Effect<Answer, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    interface Pending {
      readonly entry: Entry
      readonly resume: (answer: Effect.Effect<Answer, E>) => void
      isGone: boolean
    }
    // In order of arrival. Interrupted callers remove their entries.
    const waiting = new Set<Pending>()
    const nonEmpty = yield* Latch.make(false)
    const apart = new Map<string, Set<Pending>>()
    const apartTurn = yield* Semaphore.make(apartAtOnce)
    const background = yield* FiberSet.make<void>()

    const ownerOf = ({ entry }: Pending): string => owner?.of(entry) ?? ""
    const queueOf = (pending: Pending): Set<Pending> => apart.get(ownerOf(pending)) ?? waiting
    const fails = (exit: Exit.Exit<unknown, E>, is: ((error: E) => boolean) | undefined): boolean =>
      Exit.isFailure(exit) && exit.cause.reasons.some((reason) => reason._tag === "Fail" && is?.(reason.error) === true)

    const takeFrom = (queue: Set<Pending>, count: number): ReadonlyArray<Pending> => {
      const batch = [...queue].slice(0, count)
      for (const pending of batch) queue.delete(pending)
      return batch
    }
    const writeAll = (batch: ReadonlyArray<Pending>) => Effect.exit(write(batch.map(({ entry }) => entry)))
    const resumeAll = (batch: ReadonlyArray<Pending>, exit: Exit.Exit<ReadonlyArray<Answer>, E>) =>
      batch.forEach(({ resume }, index) => resume(Exit.map(exit, (answers) => answers[index]!)))
    const retry = (batches: ReadonlyArray<ReadonlyArray<Pending>>): Effect.Effect<void> =>
      Effect.forEach(batches, writeBatch, { concurrency: retriedAtOnce, discard: true })

    const writeBatch = (batch: ReadonlyArray<Pending>): Effect.Effect<void> =>
      Effect.flatMap(writeAll(batch), (exit) => {
        if (fails(exit, owner?.concerns)) {
          const ofOwners = [...Map.groupBy(batch, ownerOf).values()]
          if (ofOwners.length > 1) return retry(ofOwners)
          if (batch.length === 1) resumeAll(batch, exit)
          return separate(ownerOf(batch[0]!), batch.length === 1 ? [] : batch)
        }
        if (Exit.isFailure(exit) && batch.length > 1 && !fails(exit, isShared)) {
          return retry(batch.map((pending) => [pending]))
        }
        return Effect.sync(() => resumeAll(batch, exit))
      })

    // From now on the entries of this owner, and these first, are written by a fiber of its own.
    const separate = (name: string, batch: ReadonlyArray<Pending>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const first = batch.filter(({ isGone }) => !isGone)
        const queue = apart.get(name)
        if (queue !== undefined) {
          for (const pending of first) queue.add(pending)
          return Effect.void
        }
        const own = new Set([...first, ...[...waiting].filter((pending) => ownerOf(pending) === name)])
        for (const pending of own) waiting.delete(pending)
        apart.set(name, own)
        return Effect.asVoid(FiberSet.run(background, Effect.andThen(writeApart(own), rejoin(name, own))))
      })

    const writeApart = (queue: Set<Pending>): Effect.Effect<unknown> => {
      let idleTimes = 0
      const wait = Effect.suspend(() => Effect.as(Effect.sleep(idle.every), ++idleTimes === idle.times))
      const writeOne = Effect.suspend(() => {
        const one = takeFrom(queue, 1)
        if (one.length === 0) return Effect.succeed(false)
        idleTimes = 0
        return Effect.map(writeAll(one), (exit) => {
          resumeAll(one, exit)
          return !fails(exit, owner?.concerns)
        })
      })
      const next = Effect.suspend(() => (queue.size === 0 ? wait : apartTurn.withPermit(writeOne)))
      return Effect.repeat(next, { until: (isOver) => isOver })
    }

    const rejoin = (name: string, queue: Set<Pending>) =>
      Effect.sync(() => {
        apart.delete(name)
        for (const pending of queue) waiting.add(pending)
        if (waiting.size > 0) nonEmpty.openUnsafe()
      })

    const next = Effect.suspend(() => {
      const batch = takeFrom(waiting, atMost)
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
        const pending: Pending = { entry, resume, isGone: false }
        queueOf(pending).add(pending)
        if (waiting.size > 0) nonEmpty.openUnsafe()
        return Effect.sync(() => {
          pending.isGone = true
          queueOf(pending).delete(pending)
        })
      })
  })
