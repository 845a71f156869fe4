/**
 * The last stage of a worker: buffers completions until the next round writes them. A batch that could not be written is retried in
 * the background.
 */
import { Effect, FiberSet, type Scope } from "effect"
import * as RetryingBatcher from "../jobs/RetryingBatcher.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { type Completion, logEnd } from "./Completion.ts"
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
  readonly queue: Pick<DeliveryQueue["Service"], "complete">
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
    const context = yield* Effect.context()
    const background = yield* FiberSet.make<void>()
    const buffer: Array<Completion> = []
    let uncommitted = 0

    const writeWithRetry = RetryingBatcher.retrying<Completion, boolean>({
      name: "completions",
      retryForMs: options.leaseMs,
      write: (batch) =>
        Effect.map(options.queue.complete(batch), (written) => {
          const ids = new Set<string>(written)
          return batch.map(({ id }) => ids.has(id))
        })
    })

    const onWritten = Effect.fnUntraced(function* (batch: ReadonlyArray<Completion>, written: ReadonlyArray<string>) {
      uncommitted -= batch.length
      options.onCompleted(batch)
      const ids = new Set(written)
      for (const completion of batch) {
        const { event_id, id, status } = completion
        if (ids.has(id)) {
          EngineMetrics.deliveriesCompleted(status).updateUnsafe(1, context)
          yield* logEnd(completion)
        } else {
          EngineMetrics.staleCompletions("deliveries").updateUnsafe(1, context)
          yield* Effect.logWarning("Delivery lease lost; completion discarded").pipe(
            Effect.annotateLogs({ deliveryId: id, eventId: event_id })
          )
        }
      }
    })

    const completeWithRetry = Effect.fnUntraced(function* (batch: ReadonlyArray<Completion>) {
      const answers = yield* writeWithRetry(batch)
      const written = batch.filter((_, index) => answers[index] === true)
      yield* onWritten(
        batch,
        written.map(({ id }) => id)
      )
      yield* options.onBackgroundCompleted()
    })

    const completeInBackground = (batch: ReadonlyArray<Completion>) =>
      batch.length === 0 ? Effect.void : Effect.asVoid(FiberSet.run(background, completeWithRetry(batch)))

    return {
      add: (completion) => {
        uncommitted += 1
        buffer.push(completion)
      },
      pending: () => buffer.length,
      uncommitted: () => uncommitted,
      take: () => buffer.splice(0, maxBatch),
      flush: (batch) =>
        Effect.matchCauseEffect(options.queue.complete(batch), {
          onFailure: () => completeInBackground(batch),
          onSuccess: (written) => onWritten(batch, written)
        }),
      completeInBackground
    }
  })
