/**
 * Reads the depth of the queues, the age of their oldest entries and of the oldest snapshot, and the WAL that is kept, for the metrics.
 *
 * One process of a deployment reads them every 15 seconds, into the table `queue_gauges`, and every process exports them: queues
 * are measured while no worker runs. Times are stored, not ages: while nobody can read them, the ages grow.
 *
 * The cost is bounded: counting stops at ten thousand, beyond which the estimate of the last vacuum is used, and the
 * oldest delivery is searched among a thousand endpoints.
 */
import { PgTypes } from "@effect/sql-pg"
import { Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as OutageLog from "../database/OutageLog.ts"
import { invoicesQueue } from "../invoices/gauges.sql.ts"
import * as LaneOverview from "../invoices/ksef/LaneOverview.ts"
import * as KsefMetrics from "../invoices/ksef/KsefMetrics.ts"
import { Settings } from "../settings/Settings.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { deliveryQueues } from "../deliveries/gauges.sql.ts"

/** How often the gauges are read, in seconds. */
export const everySeconds = 15

const exactUpTo = 10_000
const maxEndpoints = 1000

interface Row {
  readonly queue: EngineMetrics.Queue | "limited"
  readonly depth: number
  readonly oldest: Date | null
}

/** Reads the queues once. `perOrganization` is the concurrency limit of each organization. */
export const read = (perOrganization: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<Row>`
      SELECT queue, oldest, CASE WHEN n < ${exactUpTo}::int THEN n ELSE greatest(n, (
               SELECT sum(greatest(0, reltuples))::bigint FROM (
                 SELECT to_regclass(index) UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass(index)
               ) AS one (oid) JOIN pg_class USING (oid)
             )) END::int AS depth
      FROM (
        (${invoicesQueue(sql, exactUpTo)}) UNION ALL (${deliveryQueues(sql, { exactUpTo, maxEndpoints, perOrganization })})
      ) AS counted (queue, index, n, oldest)
    `
  )

/**
 * Reads since when the oldest snapshot is held open, by a transaction or a prepared one. Vacuum ignores its own. Sessions of other
 * roles are visible to members of `pg_read_all_stats` only.
 */
export const oldestSnapshot = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly since: Date | null }>`
    SELECT min(since) AS since FROM (
      SELECT xact_start FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND num_nonnulls(backend_xmin, backend_xid) > 0
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
      UNION ALL
      SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
    ) AS held (since)
  `
  return row?.since ?? null
})

/** Reads how much WAL the database keeps for the replication slot that is furthest behind, in bytes: of a replica, a cell, or a move. */
export const retainedWal = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT coalesce(max(pg_current_wal_lsn() - restart_lsn), 0)::float8 AS bytes FROM pg_replication_slots
  `
  return row!.bytes
})

/** What the table has. Times are ISO 8601. */
interface Gauges {
  readonly queues: ReadonlyArray<{
    readonly queue: Row["queue"]
    readonly depth: number
    readonly oldest: string | null
  }>
  readonly live: {
    readonly waiting: number
    readonly oldest_unsent: string | null
    /** Absent where a process of an earlier version has read. */
    readonly oldest_without_credential?: string | null
    readonly oldest_pending: string | null
    readonly offline_overdue: number
  }
  readonly snapshot: string | null
  /** Absent where a process of an earlier version has read. */
  readonly wal?: number
}

// Skips the row while another process reads, and commits what was read with the time of the reading.
const readIfDue = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { organizationConcurrency } = yield* Settings
  const claimed = yield* sql`
    SELECT FROM queue_gauges WHERE read_at <= clock_timestamp() - make_interval(secs => ${everySeconds - 1})
    FOR UPDATE SKIP LOCKED
  `
  if (claimed.length === 0) return
  const gauges = {
    queues: yield* read(organizationConcurrency),
    live: yield* LaneOverview.readGauges,
    snapshot: yield* oldestSnapshot,
    wal: yield* retainedWal
  }
  yield* sql`UPDATE queue_gauges SET read_at = clock_timestamp(), gauges = ${PgTypes.json(gauges)}`
})

/** Reads the gauges if they are due, and updates the metrics of this process. */
export const refresh = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { liveMode } = yield* Settings
  yield* sql.withTransaction(readIfDue)
  const [row] = yield* sql<{ readonly now: Date; readonly gauges: Gauges | null }>`
    SELECT clock_timestamp() AS now, gauges FROM queue_gauges
  `
  if (row === undefined || row.gauges === null) return
  const { live, queues, snapshot, wal = 0 } = row.gauges
  const age = (since: string | null) => (since === null ? 0 : Math.max(0, row.now.getTime() - Date.parse(since)) / 1000)
  for (const { depth, oldest, queue } of queues) {
    if (queue === "limited") {
      yield* Metric.update(EngineMetrics.limitedOldestSeconds, age(oldest))
    } else {
      yield* Metric.update(EngineMetrics.queueDepth(queue), depth)
      yield* Metric.update(EngineMetrics.queueOldestSeconds(queue), age(oldest))
    }
  }
  yield* Metric.update(EngineMetrics.oldestSnapshotSeconds, age(snapshot))
  yield* Metric.update(EngineMetrics.retainedWalBytes, wal)
  if (!liveMode) return
  yield* Metric.update(KsefMetrics.waiting, live.waiting)
  yield* Metric.update(KsefMetrics.oldestUnsentSeconds, age(live.oldest_unsent))
  yield* Metric.update(KsefMetrics.unsentWithoutCredentialSeconds, age(live.oldest_without_credential ?? null))
  yield* Metric.update(KsefMetrics.offlineOverdue, live.offline_overdue)
  yield* Metric.update(KsefMetrics.pendingSecondsMax, age(live.oldest_pending))
})

/** Layer that refreshes the gauges on a schedule, if metrics are served. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { metricsPort } = yield* Settings
    if (metricsPort === undefined) return
    const iteration = refresh.pipe(OutageLog.tolerate("gauges", "Queue gauges could not be read"))
    yield* Effect.forkScoped(Effect.repeat(iteration, Schedule.spaced(`${everySeconds} seconds`)))
  })
)
