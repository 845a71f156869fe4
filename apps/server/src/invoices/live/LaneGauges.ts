/**
 * Reads what waits for the national system, for the metrics.
 *
 * The cost is bounded: counting stops at ten thousand, and the oldest are searched among a thousand organizations and a
 * thousand submissions.
 */
import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as OutageLog from "../../database/OutageLog.ts"
import { Settings } from "../../settings/Settings.ts"
import * as KsefMetrics from "./ksef/KsefMetrics.ts"

const every = "15 seconds"

const exactUpTo = 10_000
const searched = 1000

/** Reads the gauges once. */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const waits = sql`mode = 'live' AND status IN ('queued', 'retrying')`
  const [row] = yield* sql<{
    readonly waiting: number
    readonly oldest_unsent: Date | null
    readonly oldest_pending: Date | null
  }>`
    WITH RECURSIVE oldest (organization_id, due_at, position) AS (
      (SELECT organization_id, due_at, 1 FROM invoices WHERE ${waits} ORDER BY organization_id, due_at, id LIMIT 1)
      UNION ALL
      SELECT next.*, position + 1 FROM oldest CROSS JOIN LATERAL (
        SELECT organization_id, due_at FROM invoices WHERE ${waits} AND organization_id > oldest.organization_id
        ORDER BY organization_id, due_at, id LIMIT 1
      ) AS next
      WHERE position < ${searched}::int
    )
    SELECT (
      SELECT count(*)::int FROM (
        SELECT FROM invoices WHERE ${waits} ORDER BY organization_id, due_at, id LIMIT ${exactUpTo}::int
      ) AS entry
    ) AS waiting, (SELECT min(due_at) FROM oldest) AS oldest_unsent, (
      SELECT min(handed_over_at) FROM (
        SELECT coalesce(sent_at, created_at) AS handed_over_at FROM national_submissions
        WHERE state IN ('sending', 'sent') ORDER BY invoice_id LIMIT ${searched}::int
      ) AS pending
    ) AS oldest_pending
  `
  const { oldest_pending: pending, oldest_unsent: unsent, waiting } = row!
  const secondsSince = (date: Date | null) => (date === null ? 0 : Math.max(0, now - date.getTime()) / 1000)
  yield* Metric.update(KsefMetrics.waiting, waiting)
  yield* Metric.update(KsefMetrics.oldestUnsentSeconds, secondsSince(unsent))
  yield* Metric.update(KsefMetrics.pendingSecondsMax, secondsSince(pending))
  return row!
})

/** Layer that reads the gauges on a schedule, if metrics are served. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient | Settings> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { metricsPort } = yield* Settings
    if (metricsPort === undefined) return
    const tolerant = Effect.catchCause(read, (cause) =>
      OutageLog.report(cause, Effect.logWarning("Lane gauges could not be read", cause))
    )
    yield* Effect.forkScoped(Effect.repeat(tolerant, Schedule.spaced(every)))
  })
)
