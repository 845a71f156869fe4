/** Writes completions, retries them while the database is unavailable, and counts and logs what became of each. */
import { Cause, Duration, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import * as OutageLog from "../database/OutageLog.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import * as MonotonicTime from "../observability/MonotonicTime.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import { type Completion, logEnd } from "./Completion.ts"
import type { DeliveryQueue } from "./DeliveryQueue.ts"

type Batch = ReadonlyArray<Completion>

/** Writes completions. */
export interface CompletionWriter {
  /** Writes a batch. A completion whose lease was lost is discarded. */
  readonly write: (batch: Batch) => Effect.Effect<void, SqlError.SqlError>
  /**
   * Writes a batch, and never fails. A batch that fails with a transient error is retried until its leases are lost, and then given
   * up; so are completions whose rows another session has locked, without the others. A batch that fails with a permanent error is
   * split in halves until the completion at fault is alone, and only that one is given up: its delivery is retried when the lease
   * expires.
   */
  readonly writeWithRetry: (batch: Batch) => Effect.Effect<void>
}

const pause = Duration.millis(250)

const report = Effect.fnUntraced(function* (batch: Batch, written: ReadonlyArray<string>) {
  const ids = new Set(written)
  for (const completion of batch) {
    const { event_id, id, status } = completion
    const isWritten = ids.has(id)
    yield* EngineMetrics.countCompletion(status, isWritten)
    yield* isWritten
      ? logEnd(completion)
      : Effect.annotateLogs(Effect.logWarning("Delivery lease lost; completion discarded"), {
          deliveryId: id,
          eventId: event_id
        })
  }
})

const logGivenUp = (entries: number, reason: string) =>
  Effect.annotateLogs(Effect.logError("Batch of completions given up"), { reason, entries })

const giveUp = (batch: Batch, error: unknown) =>
  (SqlErrors.isTransient(error)
    ? logGivenUp(batch.length, reasonOf(error))
    : Effect.annotateLogs(Effect.logError("Batch of completions given up", error), { entries: batch.length })
  ).pipe(Effect.andThen(report(batch, [])))

/** Makes a writer of the queue, whose leases last for `leaseMs`. */
export const make = (
  { complete, completeUnlocked }: Pick<DeliveryQueue["Service"], "complete" | "completeUnlocked">,
  leaseMs: number
): CompletionWriter => {
  const completeUntil = (until: number, batch: Batch) =>
    completeUnlocked(batch).pipe(
      Effect.tap(OutageLog.success),
      Effect.tapError((error) => OutageLog.report(Cause.fail(error), Effect.void)),
      Effect.retry({
        schedule: Schedule.spaced(pause),
        while: (error) => Effect.map(MonotonicTime.now, (now) => now < until && SqlErrors.isTransient(error))
      }),
      // A defect must not stop the worker.
      Effect.catchDefect(Effect.fail)
    )

  const writeUntil = (until: number, batch: Batch): Effect.Effect<void> =>
    Effect.matchEffect(completeUntil(until, batch), {
      onSuccess: Effect.fnUntraced(function* ({ locked, written }) {
        const waiting = batch.filter(({ id }) => locked.includes(id))
        yield* report(
          batch.filter((one) => !waiting.includes(one)),
          written
        )
        if (waiting.length === 0) return
        if ((yield* MonotonicTime.now) < until) {
          return yield* Effect.delay(writeUntil(until, waiting), pause)
        }
        yield* logGivenUp(waiting.length, "another session has locked their rows")
        yield* report(waiting, [])
      }),
      onFailure: (error) => {
        if (batch.length === 1 || SqlErrors.isTransient(error)) return giveUp(batch, error)
        const half = batch.length >> 1
        return Effect.andThen(writeUntil(until, batch.slice(0, half)), writeUntil(until, batch.slice(half)))
      }
    })

  return {
    write: (batch) => Effect.flatMap(complete(batch), (written) => report(batch, written)),
    writeWithRetry: (batch) => Effect.flatMap(MonotonicTime.now, (now) => writeUntil(now + leaseMs, batch))
  }
}
