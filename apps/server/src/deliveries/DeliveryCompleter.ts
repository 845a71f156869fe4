/**
 * The last stage of a worker: buffers completions until the next round writes them. A batch that could not be written is retried in
 * the background.
 */
import { Effect, FiberSet, type Scope } from "effect"
import type { Completion } from "./Completion.ts"
import * as CompletionWriter from "./CompletionWriter.ts"
import type { DeliveryQueue } from "./DeliveryQueue.ts"

/** Completes deliveries. */
export interface DeliveryCompleter {
  /** Adds the completion of an attempt to the buffer. */
  readonly add: (completion: Completion) => void
  /** The number of completions in the buffer. */
  readonly pending: () => number
  /** The number of completions that are not written yet, in the buffer or in a statement. */
  readonly uncommitted: () => number
  /** Takes a batch out of the buffer, the oldest first. */
  readonly take: () => ReadonlyArray<Completion>
  /** Writes a batch. One that could not be written is retried in the background. */
  readonly flush: (batch: ReadonlyArray<Completion>) => Effect.Effect<void>
  /** Writes a batch in the background, retried until its leases expire. */
  readonly completeInBackground: (batch: ReadonlyArray<Completion>) => Effect.Effect<void>
}

/** The options of a completer. */
export interface CompleterOptions {
  readonly queue: Pick<DeliveryQueue["Service"], "complete" | "completeUnlocked">
  readonly leaseMs: number
  /** Runs after each batch that was written or given up. */
  readonly onCompleted: (batch: ReadonlyArray<Completion>) => void
  /** Runs after each batch that was written or given up in the background. */
  readonly onBackgroundCompleted: () => Effect.Effect<void>
}

/** The maximum number of completions that one statement writes. */
export const maxBatch = 500

/** Makes a completer. Its background writes end with the scope. */
export const make = (options: CompleterOptions): Effect.Effect<DeliveryCompleter, never, Scope.Scope> =>
  Effect.gen(function* () {
    const background = yield* FiberSet.make<void>()
    const writer = CompletionWriter.make(options.queue, options.leaseMs)
    const buffer: Array<Completion> = []
    let uncommitted = 0

    const onDone = (batch: ReadonlyArray<Completion>) =>
      Effect.sync(() => {
        uncommitted -= batch.length
        options.onCompleted(batch)
      })

    const completeInBackground = (batch: ReadonlyArray<Completion>) =>
      batch.length === 0
        ? Effect.void
        : writer
            .writeWithRetry(batch)
            .pipe(
              Effect.andThen(onDone(batch)),
              Effect.andThen(Effect.suspend(options.onBackgroundCompleted)),
              (written) => FiberSet.run(background, written),
              Effect.asVoid
            )

    return {
      add: (completion) => {
        uncommitted += 1
        buffer.push(completion)
      },
      pending: () => buffer.length,
      uncommitted: () => uncommitted,
      take: () => buffer.splice(0, maxBatch),
      flush: (batch) =>
        Effect.matchCauseEffect(writer.write(batch), {
          onFailure: () => completeInBackground(batch),
          onSuccess: () => onDone(batch)
        }),
      completeInBackground
    }
  })
