/**
 * Reads the depth of the queues and the age of their oldest entries for the metrics.
 *
 * The cost is bounded: counting stops at ten thousand, beyond which the estimate of the last vacuum is used, and the
 * oldest delivery is searched among a thousand endpoints.
 */
import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as OutageLog from "../database/OutageLog.ts"
import { Settings } from "../settings/Settings.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"

const every = "15 seconds"

const exactUpTo = 10_000
const endpoints = 1000

interface Row {
  readonly queue: EngineMetrics.Queue
  readonly depth: number
  readonly oldest: Date | null
}

/** Reads the gauges once. */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const rows = yield* sql<Row>`
    WITH RECURSIVE endpoint_scan (endpoint_id, due_at, position) AS (
      (
        SELECT endpoint_id, due_at, 1 FROM deliveries WHERE is_due AND lease_expires_at IS NULL
        ORDER BY endpoint_id, due_at LIMIT 1
      )
      UNION ALL
      SELECT next.*, endpoint_scan.position + 1
      FROM endpoint_scan CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM deliveries
        WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > endpoint_scan.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT 1
      ) AS next
      WHERE endpoint_scan.position < ${endpoints}::int
    ), counted (queue, index, n, oldest) AS (
      SELECT 'invoices', 'invoices_due_at_idx', (
        SELECT count(*) FROM (
          SELECT FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at, id LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT due_at FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at, id LIMIT 1)
      UNION ALL
      SELECT 'deliveries', 'deliveries_due_idx', (
        SELECT count(*) FROM (
          SELECT FROM deliveries WHERE is_due AND lease_expires_at IS NULL
          ORDER BY endpoint_id, due_at LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT min(due_at) FROM endpoint_scan)
      UNION ALL
      SELECT 'retries', 'deliveries_retries_idx', (
        SELECT count(*) FROM (
          SELECT FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT due_at FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT 1)
    )
    SELECT queue, oldest, CASE WHEN n < ${exactUpTo}::int THEN n ELSE greatest(n, (
             SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(index)
           )) END::int AS depth
    FROM counted
  `
  for (const { depth, oldest, queue } of rows) {
    yield* Metric.update(EngineMetrics.queueDepth(queue), depth)
    const age = oldest === null ? 0 : Math.max(0, now - oldest.getTime()) / 1000
    yield* Metric.update(EngineMetrics.queueOldestSeconds(queue), age)
  }
  return rows
})

/** Layer that reads the gauges on a schedule, if metrics are served. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { metricsPort } = yield* Settings
    if (metricsPort === undefined) return
    const tolerant = Effect.catchCause(read, (cause) =>
      OutageLog.report(cause, Effect.logWarning("Queue gauges could not be read", cause))
    )
    yield* Effect.forkScoped(Effect.repeat(tolerant, Schedule.spaced(every)))
  })
)
