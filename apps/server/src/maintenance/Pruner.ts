/**
 * Makes the partitions of the next weeks, and deletes what is past its retention: events with their deliveries, idempotency
 * records, refresh tokens, sessions, API keys, and webhook endpoints. The statements are those of the folders that own the tables.
 *
 * Events are dropped with their deliveries by the week, once all of it is older than the retention time. A delivery that is not
 * finished is kept, with its event, and so is an idempotency record until its invoice is final. A deleted endpoint is kept
 * until the last of its deliveries is dropped. Invoices, documents and receipts are never deleted.
 */
import { Clock, Context, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { deleteApiKeys, deleteRefreshTokens } from "../accounts/prune.sql.ts"
import * as moveState from "../cells/moveState.ts"
import * as OutageLog from "../database/OutageLog.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { deleteIdempotencyRecords } from "../invoices/prune.sql.ts"
import { Settings } from "../settings/Settings.ts"
import * as Partitions from "../database/Partitions.ts"
import { deleteEndpoints, type EndpointCursor } from "../deliveries/prune.sql.ts"

/** How much was deleted. */
export interface Pruned {
  /** Weeks of events with their deliveries. */
  readonly weeks: number
  readonly idempotencyRecords: number
  readonly refreshTokens: number
  readonly sessions: number
  readonly apiKeys: number
  readonly endpoints: number
}

export class Pruner extends Context.Service<
  Pruner,
  {
    readonly prune: Effect.Effect<Pruned, SqlError.SqlError>
    /** Makes the partitions of this week and the next ones. */
    readonly makeWeeks: Effect.Effect<void, SqlError.SqlError>
  }
>()("@govoice/server/maintenance/Pruner") {}

// Small batches hold locks briefly, and the pause lets vacuum and replicas keep up.
const batch = 1000
const pause = Duration.millis(100)

const every = Duration.hours(1)

// A machine that has slept for weeks, or the clock of the database, can leave the present without a partition: every submission fails.
const partitionsEvery = Duration.minutes(1)

const dayMs = 86_400_000

// Expired refresh tokens cannot be used. The day covers clocks that differ.
const refreshTokenRetentionMs = dayMs

// API keys that were revoked or have expired, and deleted endpoints. Owners see expired keys in their list until then, and
// no statement that began before the deletion of an endpoint can still insert a delivery for it.
const removedRetentionMs = 7 * dayMs

/** Idempotency records are kept so long, and until their invoice is final. */
export const idempotencyRetentionMs = 30 * dayMs

/** Provides `Pruner` from a migrated database. */
export const layer: Layer.Layer<Pruner, never, SqlClient.SqlClient | Settings> = Layer.effect(
  Pruner,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { eventRetentionDays } = yield* Settings

    // Tables that are locked, by a dump or by another worker that does the same, are left for the next time: `/readyz` and `doctor` say
    // when a week is missing. While an organization moves here, what belongs to a delivery that is not finished may not have arrived; while
    // one moves away, the target would get what is kept of a week twice.
    const dropWeeks = Effect.flatMap(moveState.isCopying, (isCopying) =>
      isCopying ? Effect.succeed(0) : Partitions.dropOlder(eventRetentionDays * dayMs)
    )
    const unlessLocked = <A, B>(change: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>, otherwise: B) =>
      change.pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.catchIf(SqlErrors.isLockTimeout, () =>
          Effect.as(Effect.logDebug("Partitions of events are locked; they are made and dropped later"), otherwise)
        )
      )
    const makeWeeks = unlessLocked(Partitions.make(Partitions.weeksAhead), undefined)

    // Runs a step until it reads less than a batch, and returns how many records it removed.
    const inBatches = Effect.fnUntraced(function* (
      step: Effect.Effect<{ readonly seen: number; readonly removed: number }, SqlError.SqlError>
    ) {
      for (let total = 0; ;) {
        const { removed, seen } = yield* step
        total += removed
        if (seen < batch) return total
        yield* Effect.sleep(pause)
      }
    })

    const pruneRecords = (now: number) => {
      const before = new Date(now - idempotencyRetentionMs)
      let after = new Date(0)
      const step = Effect.suspend(() => deleteIdempotencyRecords(sql, { after, before, limit: batch }))
      return inBatches(
        Effect.map(step, ([row]) => {
          const { last, removed, seen } = row!
          // A whole batch of one millisecond may have to stay: go on with the next millisecond.
          if (last !== null) after = removed === 0 ? new Date(last.getTime() + 1) : last
          return { removed, seen }
        })
      )
    }

    const pruneSessions = Effect.fnUntraced(function* (now: number) {
      const before = new Date(now - refreshTokenRetentionMs)
      let sessions = 0
      const refreshTokens = yield* inBatches(
        Effect.map(deleteRefreshTokens(sql, { before, limit: batch }), ([row]) => {
          sessions += row!.sessions
          return { removed: row!.tokens, seen: row!.tokens }
        })
      )
      return { refreshTokens, sessions }
    })

    const pruneApiKeys = (now: number) => {
      const step = deleteApiKeys(sql, { before: new Date(now - removedRetentionMs), limit: batch })
      return inBatches(Effect.map(step, ([row]) => ({ removed: row!.removed, seen: row!.removed })))
    }

    const pruneEndpoints = (now: number) => {
      const before = new Date(now - removedRetentionMs)
      let after: EndpointCursor = { at: new Date(0), id: "" }
      const step = Effect.suspend(() => deleteEndpoints(sql, { after, before, limit: batch }))
      return inBatches(
        Effect.map(step, ([row]) => {
          const { last, last_at, removed, seen } = row!
          if (last !== null && last_at !== null) after = { at: last_at, id: last }
          return { removed, seen }
        })
      )
    }

    // Endpoints after events, whose deliveries keep them.
    const prune = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return {
        weeks: yield* Effect.andThen(makeWeeks, unlessLocked(dropWeeks, 0)),
        idempotencyRecords: yield* pruneRecords(now),
        ...(yield* pruneSessions(now)),
        apiKeys: yield* pruneApiKeys(now),
        endpoints: yield* pruneEndpoints(now)
      }
    }).pipe(Effect.withSpan("Pruner.prune"))

    return { prune, makeWeeks }
  })
)

const count = Effect.fnUntraced(function* (pruned: Pruned) {
  const counts: Readonly<Record<(typeof EngineMetrics.prunedKinds)[number], number>> = {
    weeks: pruned.weeks,
    idempotency_records: pruned.idempotencyRecords,
    refresh_tokens: pruned.refreshTokens,
    sessions: pruned.sessions,
    api_keys: pruned.apiKeys,
    endpoints: pruned.endpoints
  }
  for (const kind of EngineMetrics.prunedKinds) yield* Metric.update(EngineMetrics.pruned(kind), counts[kind])
  yield* Metric.update(EngineMetrics.prunedAt, (yield* Clock.currentTimeMillis) / 1000)
})

/** Prunes every hour, and makes partitions every minute, for as long as it lives. */
export const layerScheduled: Layer.Layer<never, never, Pruner> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { makeWeeks, prune } = yield* Pruner
    const iteration = prune.pipe(
      Effect.tap(count),
      Effect.tap((pruned) =>
        Object.values<number>({ ...pruned }).some((count) => count > 0)
          ? Effect.annotateLogs(Effect.logInfo("Pruned expired records"), { ...pruned })
          : Effect.void
      ),
      OutageLog.tolerate("pruner", "Pruning failed")
    )
    yield* Effect.forkScoped(Effect.repeat(iteration, Schedule.jittered(Schedule.spaced(every))))
    const making = OutageLog.tolerate("pruner", "Partitions could not be made")(makeWeeks)
    yield* Effect.forkScoped(Effect.schedule(making, Schedule.spaced(partitionsEvery)))
  })
)
