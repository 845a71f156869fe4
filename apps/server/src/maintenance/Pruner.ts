/**
 * Deletes what is past its retention: events with their deliveries, idempotency records, refresh tokens, sessions, API keys,
 * and webhook endpoints.
 *
 * An event is kept with all its deliveries until the last of them has been complete for the retention time, and an
 * idempotency record until its invoice is final. A deleted endpoint is kept until the last of its deliveries is pruned.
 * Invoices, documents and receipts are never deleted.
 *
 * Identifiers sort by age, so old events are found by their identifiers, without an index of their own.
 */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { idBoundary } from "../database/idBoundary.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { Settings } from "../settings/Settings.ts"

/** How many records were deleted. */
export interface Pruned {
  readonly events: number
  readonly idempotencyRecords: number
  readonly refreshTokens: number
  readonly sessions: number
  readonly apiKeys: number
  readonly endpoints: number
}

export class Pruner extends Context.Service<Pruner, { readonly prune: Effect.Effect<Pruned, SqlError.SqlError> }>()(
  "@govoice/server/maintenance/Pruner"
) {}

// Small batches hold locks briefly, and the pause lets vacuum and replicas keep up.
const batch = 1000
const pause = Duration.millis(100)

const every = Duration.hours(1)

const dayMs = 86_400_000

// Expired refresh tokens cannot be used. The day covers clocks that differ.
const refreshTokenRetentionMs = dayMs

// API keys that were revoked or have expired, and deleted endpoints. Owners see expired keys in their list until then, and
// no statement that began before the deletion of an endpoint can still insert a delivery for it.
const removedRetentionMs = 7 * dayMs

interface EndpointCursor {
  readonly at: Date
  readonly id: string
}

/** Provides `Pruner` from a migrated database. */
export const layer: Layer.Layer<Pruner, never, SqlClient.SqlClient | Settings> = Layer.effect(
  Pruner,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { eventRetentionDays, idempotencyRetentionDays } = yield* Settings

    // Events with a delivery that a worker is completing are locked, and left for the next run.
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

    // A session ends with its last token. One that can still be refreshed has a token that has not expired.
    const deleteTokens = (before: Date) => sql<{ readonly tokens: number; readonly sessions: number }>`
      WITH expired AS MATERIALIZED (
        SELECT hash, session_id FROM refresh_tokens
        WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${batch}::int
        FOR UPDATE SKIP LOCKED
      ), token AS (
        DELETE FROM refresh_tokens WHERE hash IN (SELECT hash FROM expired) RETURNING 1
      ), session AS (
        DELETE FROM sessions
        WHERE id IN (SELECT session_id FROM expired) AND NOT EXISTS (
          SELECT FROM refresh_tokens
          WHERE session_id = sessions.id AND hash NOT IN (SELECT hash FROM expired)
        )
        RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM token) AS tokens, (SELECT count(*)::int FROM session) AS sessions
    `

    // No other table references keys. The expression is that of the index. An array of identifiers is looked up in the primary
    // key; a join would read the whole table while it has a few ten thousand rows.
    const deleteApiKeys = (before: Date) => sql<{ readonly removed: number }>`
      WITH ended AS MATERIALIZED (
        SELECT id FROM api_keys
        WHERE least(revoked_at, expires_at) < ${before} ORDER BY least(revoked_at, expires_at) LIMIT ${batch}::int
        FOR UPDATE SKIP LOCKED
      ), api_key AS (
        DELETE FROM api_keys WHERE id = ANY (ARRAY(SELECT id FROM ended)) RETURNING 1
      )
      SELECT count(*)::int AS removed FROM api_key
    `

    // The order makes the search for a delivery one probe of the primary key, even where the planner expects a delivery in
    // the first rows of the table.
    const deleteEndpoints = (after: EndpointCursor, before: Date) => sql<{
      readonly seen: number
      readonly last: string | null
      readonly last_at: Date | null
      readonly removed: number
    }>`
      WITH deleted AS MATERIALIZED (
        SELECT id, deleted_at FROM webhook_endpoints
        WHERE (deleted_at, id) > (${after.at}, ${after.id}) AND deleted_at < ${before}
        ORDER BY deleted_at, id LIMIT ${batch}::int
      ), last AS (
        SELECT id, deleted_at FROM deleted ORDER BY deleted_at DESC, id DESC LIMIT 1
      ), unused AS MATERIALIZED (
        SELECT id FROM webhook_endpoints
        WHERE id = ANY (ARRAY(SELECT id FROM deleted)) AND (
          SELECT id FROM deliveries WHERE endpoint_id = webhook_endpoints.id ORDER BY id LIMIT 1
        ) IS NULL
        FOR UPDATE SKIP LOCKED
      ), endpoint AS (
        DELETE FROM webhook_endpoints WHERE id = ANY (ARRAY(SELECT id FROM unused)) RETURNING 1
      )
      SELECT (SELECT count(*)::int FROM deleted) AS seen, (SELECT id FROM last) AS last,
             (SELECT deleted_at FROM last) AS last_at, (SELECT count(*)::int FROM endpoint) AS removed
    `

    const pruneEvents = Effect.fnUntraced(function* (now: number) {
      const cutoff = now - eventRetentionDays * dayMs
      const before = idBoundary("evt", cutoff)
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
        // A whole batch of one millisecond may have to stay: go on with the next millisecond.
        after = row!.removed === 0 ? new Date(row!.last.getTime() + 1) : row!.last
        yield* Effect.sleep(pause)
      }
    })

    const pruneSessions = Effect.fnUntraced(function* (now: number) {
      const before = new Date(now - refreshTokenRetentionMs)
      let refreshTokens = 0
      let sessions = 0
      while (true) {
        const [row] = yield* deleteTokens(before)
        refreshTokens += row!.tokens
        sessions += row!.sessions
        if (row!.tokens < batch) return { refreshTokens, sessions }
        yield* Effect.sleep(pause)
      }
    })

    const pruneApiKeys = Effect.fnUntraced(function* (now: number) {
      const before = new Date(now - removedRetentionMs)
      let removed = 0
      while (true) {
        const [row] = yield* deleteApiKeys(before)
        removed += row!.removed
        if (row!.removed < batch) return removed
        yield* Effect.sleep(pause)
      }
    })

    const pruneEndpoints = Effect.fnUntraced(function* (now: number) {
      const before = new Date(now - removedRetentionMs)
      let after: EndpointCursor = { at: new Date(0), id: "" }
      let removed = 0
      while (true) {
        const [row] = yield* deleteEndpoints(after, before)
        removed += row!.removed
        if (row!.seen < batch || row!.last === null || row!.last_at === null) return removed
        after = { at: row!.last_at, id: row!.last }
        yield* Effect.sleep(pause)
      }
    })

    // Endpoints after events, whose deliveries keep them.
    const prune = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return {
        events: yield* pruneEvents(now),
        idempotencyRecords: yield* pruneRecords(now),
        ...(yield* pruneSessions(now)),
        apiKeys: yield* pruneApiKeys(now),
        endpoints: yield* pruneEndpoints(now)
      }
    }).pipe(Effect.withSpan("Pruner.prune"))

    return { prune }
  })
)

/** Prunes every hour for as long as it lives. */
export const layerScheduled: Layer.Layer<never, never, Pruner> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { prune } = yield* Pruner
    const tolerant = prune.pipe(
      Effect.tap((pruned) =>
        Object.values<number>({ ...pruned }).some((count) => count > 0)
          ? Effect.annotateLogs(Effect.logInfo("Pruned expired records"), { ...pruned })
          : Effect.void
      ),
      Effect.catchCause((cause) => OutageLog.report(cause, Effect.logWarning("Pruning failed", cause)))
    )
    yield* Effect.forkScoped(Effect.repeat(tolerant, Schedule.jittered(Schedule.spaced(every))))
  })
)
