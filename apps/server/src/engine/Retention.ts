/**
 * Removes what has been finished for long enough: events with their deliveries, and idempotency records.
 *
 * Identifiers sort by age, so what is old is found by its identifier, without an index of its own. Nothing is removed
 * that has work left: an event stays with all of its deliveries until the last of them has been finished for as long as
 * they are kept, an idempotency record until its invoice is finished. Invoices, documents and receipts are never removed.
 *
 * @since 0.1.0
 */
import { Ids } from "@govoice/core"
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Settings } from "../settings/Settings.ts"

/**
 * What was removed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Removed {
  readonly events: number
  readonly idempotencyRecords: number
}

/**
 * Service that removes what is no longer kept.
 *
 * @category services
 * @since 0.1.0
 */
export class Retention extends Context.Service<
  Retention,
  { readonly prune: Effect.Effect<Removed, SqlError.SqlError> }
>()("@govoice/server/engine/Retention") {}

// Small enough that nobody waits for its locks, with a pause, so that vacuum and replicas keep up.
const batch = 1000
const pause = Duration.millis(100)

const every = Duration.hours(1)

const dayMs = 86_400_000

// The least identifier of its kind that a point in time can have: a prefix of those that it really has.
const boundary = (prefix: Ids.Prefix, milliseconds: number): string =>
  Ids.make(prefix, Math.max(0, milliseconds), new Uint8Array(Ids.randomLength)).slice(0, prefix.length + 11)

/**
 * Layer that provides `Retention` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Retention, never, SqlClient.SqlClient | Settings> = Layer.effect(
  Retention,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { eventRetentionDays, idempotencyRetentionDays } = yield* Settings

    // Looks at the next events, and removes those of them that are finished. A worker that settles a delivery at this
    // moment has it locked; it is left for the next time.
    const deleteEvents = (after: string, before: string, finishedBefore: Date) => sql<{
      readonly seen: number
      readonly last: string | null
      readonly removed: number
    }>`
      WITH old AS MATERIALIZED (
        SELECT id FROM events WHERE id > ${after} AND id < ${before} ORDER BY id LIMIT ${batch}::int
      ), finished AS MATERIALIZED (
        SELECT id FROM events
        WHERE id IN (SELECT id FROM old) AND NOT EXISTS (
          SELECT FROM deliveries
          WHERE event_id = events.id AND (due_at IS NOT NULL OR updated_at >= ${finishedBefore})
        )
        FOR UPDATE SKIP LOCKED
      ), delivery AS (
        DELETE FROM deliveries WHERE event_id IN (SELECT id FROM finished) AND due_at IS NULL
      ), event AS (
        DELETE FROM events WHERE id IN (SELECT id FROM finished) RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM old) AS seen, (SELECT max(id) FROM old) AS last,
             (SELECT count(*)::int FROM event) AS removed
    `

    const deleteRecords = (after: Date, before: Date) => sql<{
      readonly seen: number
      readonly last: Date | null
      readonly removed: number
    }>`
      WITH old AS MATERIALIZED (
        SELECT organization_id, mode, key, invoice_id, created_at FROM idempotency_records
        WHERE created_at >= ${after} AND created_at < ${before} ORDER BY created_at LIMIT ${batch}::int
      ), record AS (
        DELETE FROM idempotency_records
        USING old JOIN invoices ON invoices.id = old.invoice_id
        WHERE idempotency_records.organization_id = old.organization_id AND idempotency_records.mode = old.mode
          AND idempotency_records.key = old.key AND invoices.due_at IS NULL
        RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM old) AS seen, (SELECT max(created_at) FROM old) AS last,
             (SELECT count(*)::int FROM record) AS removed
    `

    const pruneEvents = Effect.fnUntraced(function* (now: number) {
      const cutoff = now - eventRetentionDays * dayMs
      const before = boundary("evt", cutoff)
      let after = ""
      let removed = 0
      while (true) {
        const [row] = yield* deleteEvents(after, before, new Date(cutoff))
        removed += row!.removed
        if (row!.seen < batch || row!.last === null) return removed
        after = row!.last
        yield* Effect.sleep(pause)
      }
    })

    const pruneRecords = Effect.fnUntraced(function* (now: number) {
      const before = new Date(now - idempotencyRetentionDays * dayMs)
      let after = new Date(0)
      let removed = 0
      while (true) {
        const [row] = yield* deleteRecords(after, before)
        removed += row!.removed
        if (row!.seen < batch || row!.last === null) return removed
        // Where a whole batch of one moment has to stay, the next moment is looked at.
        after = row!.removed === 0 ? new Date(row!.last.getTime() + 1) : row!.last
        yield* Effect.sleep(pause)
      }
    })

    const prune = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return { events: yield* pruneEvents(now), idempotencyRecords: yield* pruneRecords(now) }
    }).pipe(Effect.withSpan("Retention.prune"))

    return { prune }
  })
)

/**
 * Layer that prunes every hour for as long as it lives.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHourly: Layer.Layer<never, never, Retention> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { prune } = yield* Retention
    const tolerant = prune.pipe(
      Effect.tap((removed) =>
        removed.events + removed.idempotencyRecords > 0
          ? Effect.annotateLogs(Effect.logInfo("What was finished for long enough was removed"), { ...removed })
          : Effect.void
      ),
      Effect.catchCause((cause) => Effect.logWarning("What is no longer kept could not be removed", cause))
    )
    yield* Effect.forkScoped(Effect.repeat(tolerant, Schedule.jittered(Schedule.spaced(every))))
  })
)
