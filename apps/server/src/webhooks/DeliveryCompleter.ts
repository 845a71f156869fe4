/**
 * The last stage of a worker: buffers completions until the next statement takes them. A batch that the statement could not
 * write is retried in the background.
 */
import { Effect, FiberSet, type Scope } from "effect"
import * as RetryingBatcher from "../jobs/RetryingBatcher.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import type { Completion } from "./Completion.ts"
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
  /** Writes a batch in a statement of its own, and returns those that were written. */
  readonly flush: DeliveryQueue["Service"]["complete"]
  /** Records that a statement has written these of a batch, and discarded the others because their lease was lost. */
  readonly onWritten: (batch: ReadonlyArray<Completion>, written: ReadonlyArray<string>) => Effect.Effect<void>
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
  readonly onBackgroundCompleted: (batch: ReadonlyArray<Completion>) => Effect.Effect<void>
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
      for (const { event_id, id, status } of batch) {
        if (ids.has(id)) {
          EngineMetrics.deliveriesCompleted(status).updateUnsafe(1, context)
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
      yield* options.onBackgroundCompleted(batch)
    })

    return {
      add: (completion) => {
        uncommitted += 1
        buffer.push(completion)
      },
      pending: () => buffer.length,
      uncommitted: () => uncommitted,
      take: () => buffer.splice(0, maxBatch),
      flush: options.queue.complete,
      onWritten,
      completeInBackground: (batch) =>
        batch.length === 0 ? Effect.void : Effect.asVoid(FiberSet.run(background, completeWithRetry(batch)))
    }
  })
