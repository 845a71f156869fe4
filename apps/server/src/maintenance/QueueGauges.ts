/**
 * Reads the depth of the queues and the age of their oldest entries for the metrics.
 *
 * The cost is bounded: counting stops at ten thousand, beyond which the estimate of the last vacuum is used, and the
 * oldest delivery is searched among a thousand endpoints.
 */
import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Cte from "../database/Cte.ts"
import * as OutageLog from "../database/OutageLog.ts"
import { invoicesQueue } from "../invoices/gauges.sql.ts"
import { Settings } from "../settings/Settings.ts"
import * as EngineMetrics from "../observability/EngineMetrics.ts"
import { deliveryQueues, type GaugeParameters } from "../webhooks/gauges.sql.ts"

const every = "15 seconds"

const exactUpTo = 10_000
const endpoints = 1000

interface Row {
  readonly queue: EngineMetrics.Queue
  readonly depth: number
  readonly oldest: Date | null
}

const queueDepths: Cte.CteStatement<GaugeParameters> = {
  name: "queue depths",
  does: "Reads the depth and the oldest entry of each queue.",
  ctes: [invoicesQueue, ...deliveryQueues],
  query: (sql, { exactUpTo }) => sql`
    SELECT queue, oldest, CASE WHEN n < ${exactUpTo}::int THEN n ELSE greatest(n, (
             SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(index)
           )) END::int AS depth
    FROM (
      SELECT * FROM invoices_queue
      UNION ALL SELECT * FROM deliveries_queue
      UNION ALL SELECT * FROM retries_queue
    ) AS counted
  `
}

/** Reads the gauges once. */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const rows = yield* Cte.make<Row, GaugeParameters>(sql, queueDepths, { exactUpTo, maxEndpoints: endpoints })
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
