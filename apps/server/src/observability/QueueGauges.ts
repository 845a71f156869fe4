/**
 * Looks at the queues now and then, for the metrics: how much they hold, and for how long the oldest has been due.
 *
 * What a look costs has a bound: counting ends at ten thousand, where the estimate of the last vacuum takes over, and
 * the oldest delivery is looked for among a thousand endpoints.
 *
 * @since 0.1.0
 */
import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../settings/Settings.ts"
import * as EngineMetrics from "./EngineMetrics.ts"

const every = "15 seconds"

const exactUpTo = 10_000
const endpoints = 1000

interface Row {
  readonly queue: EngineMetrics.Queue
  readonly depth: number
  readonly oldest: Date | null
}

/**
 * Reads the gauges once.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const rows = yield* sql<Row>`
    WITH RECURSIVE turn (endpoint_id, due_at, position) AS (
      (
        SELECT endpoint_id, due_at, 1 FROM deliveries WHERE ready AND leased_until IS NULL
        ORDER BY endpoint_id, due_at LIMIT 1
      )
      UNION ALL
      SELECT next.*, turn.position + 1
      FROM turn CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM deliveries
        WHERE ready AND leased_until IS NULL AND endpoint_id > turn.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT 1
      ) AS next
      WHERE turn.position < ${endpoints}::int
    ), counted (queue, index, n, oldest) AS (
      SELECT 'invoices', 'invoices_due_at_idx', (
        SELECT count(*) FROM (
          SELECT FROM invoices WHERE due_at IS NOT NULL ORDER BY due_at, id LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT due_at FROM invoices WHERE due_at IS NOT NULL ORDER BY due_at, id LIMIT 1)
      UNION ALL
      SELECT 'deliveries', 'deliveries_ready_idx', (
        SELECT count(*) FROM (
          SELECT FROM deliveries WHERE ready AND leased_until IS NULL
          ORDER BY endpoint_id, due_at LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT min(due_at) FROM turn)
      UNION ALL
      SELECT 'waiting', 'deliveries_waiting_idx', (
        SELECT count(*) FROM (
          SELECT FROM deliveries WHERE due_at IS NOT NULL AND NOT ready ORDER BY due_at LIMIT ${exactUpTo}::int
        ) AS entry
      ), (SELECT due_at FROM deliveries WHERE due_at IS NOT NULL AND NOT ready ORDER BY due_at LIMIT 1)
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

/**
 * Layer that reads the gauges now and then, where metrics are served.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { metricsPort } = yield* Settings
    if (metricsPort === undefined) return
    const tolerant = Effect.catchCause(read, (cause) => Effect.logWarning("The queues could not be looked at", cause))
    yield* Effect.forkScoped(Effect.repeat(tolerant, Schedule.spaced(every)))
  })
)
