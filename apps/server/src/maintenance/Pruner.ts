/**
 * Deletes what is past its retention: events with their deliveries, idempotency records, refresh tokens, sessions, API keys,
 * and webhook endpoints. The statements are those of the folders that own the tables.
 *
 * An event is kept with all its deliveries until the last of them has been complete for the retention time, and an
 * idempotency record until its invoice is final. A deleted endpoint is kept until the last of its deliveries is pruned.
 * Invoices, documents and receipts are never deleted.
 *
 * Identifiers sort by age, so old events are found by their identifiers, without an index of their own.
 */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { deleteApiKeys, deleteRefreshTokens } from "../accounts/prune.sql.ts"
import { idBoundary } from "../database/idBoundary.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { deleteIdempotencyRecords } from "../invoices/prune.sql.ts"
import { Settings } from "../settings/Settings.ts"
import { deleteEndpoints, deleteEvents, type EndpointCursor } from "../webhooks/prune.sql.ts"

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

/** Provides `Pruner` from a migrated database. */
export const layer: Layer.Layer<Pruner, never, SqlClient.SqlClient | Settings> = Layer.effect(
  Pruner,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { eventRetentionDays, idempotencyRetentionDays } = yield* Settings

    const pruneEvents = Effect.fnUntraced(function* (now: number) {
      const cutoff = now - eventRetentionDays * dayMs
      const before = idBoundary("evt", cutoff)
      let after = ""
      let removed = 0
      while (true) {
        const [row] = yield* deleteEvents(sql, { after, before, finishedBefore: new Date(cutoff), limit: batch })
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
        const [row] = yield* deleteIdempotencyRecords(sql, { after, before, limit: batch })
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
        const [row] = yield* deleteRefreshTokens(sql, { before, limit: batch })
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
        const [row] = yield* deleteApiKeys(sql, { before, limit: batch })
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
        const [row] = yield* deleteEndpoints(sql, { after, before, limit: batch })
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
