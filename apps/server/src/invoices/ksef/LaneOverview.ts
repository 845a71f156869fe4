/** The invoices that wait for the national system, and why: for `govoice ksef status`, `govoice doctor` and the metrics. */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { waitingOrganizations, waits } from "./waiting.sql.ts"

/** A lane that rests because KSeF blocks some of its calls. */
export interface BlockedLane {
  readonly context: string
  /** Until when, by group of operations. */
  readonly blocked: unknown
}

/** All lanes and live invoices of a database. */
export interface LaneOverview {
  /** The environment that the database belongs to, once a server started in live mode. */
  readonly environment: string | null
  readonly lanes: number
  readonly leased: number
  readonly due: number
  /** At most 20. */
  readonly blocked: ReadonlyArray<BlockedLane>
  /** Invoices that were not sent, and when the oldest of them was received. */
  readonly unsent: number
  readonly oldest_unsent_at: Date | null
  /** Invoices that were sent and have no verdict, and when the oldest of them was sent. */
  readonly pending: number
  readonly oldest_pending_at: Date | null
  /** Of them, those that wait for more than a day. */
  readonly pending_for_a_day: number
}

/** Reads the overview. */
export const read: Effect.Effect<LaneOverview, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<LaneOverview>`
    WITH lane AS (
      SELECT count(*)::int AS lanes, (count(*) FILTER (WHERE is_leased))::int AS leased,
             (count(*) FILTER (WHERE due_at <= now() AND NOT is_leased))::int AS due
      FROM national_lanes
    ), resting AS (
      SELECT context, blocked FROM national_lanes WHERE blocked <> '{}' ORDER BY context LIMIT 20
    ), unsent AS (
      SELECT count(*)::int AS unsent, min(created_at) AS oldest_unsent_at FROM invoices
      WHERE mode = 'live' AND status IN ('queued', 'submitting', 'retrying')
    ), pending AS (
      SELECT count(*)::int AS pending, min(sent_at) AS oldest_pending_at,
             (count(*) FILTER (WHERE sent_at < now() - interval '1 day'))::int AS pending_for_a_day
      FROM national_submissions WHERE state = 'sent'
    )
    SELECT (SELECT environment FROM national_environment) AS environment, lane.*, unsent.*, pending.*,
           coalesce((SELECT jsonb_agg(resting) FROM resting), '[]') AS blocked
    FROM lane, unsent, pending
  `
  return row!
})

const exactUpTo = 10_000
const searched = 1000

/**
 * Reads the gauges of the metrics once. The cost is bounded: counting stops at ten thousand, and the oldest are searched among a
 * thousand organizations and a thousand submissions.
 */
export const readGauges = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    readonly waiting: number
    /** Of an organization whose credential KSeF accepted. The others wait for their owners. */
    readonly oldest_unsent: Date | null
    readonly oldest_without_credential: Date | null
    readonly oldest_pending: Date | null
    readonly offline_overdue: number
  }>`
    WITH RECURSIVE ${waitingOrganizations(sql, searched)}, unsent AS (
      SELECT min(due_at) FILTER (WHERE is_accepted) AS oldest_unsent,
             min(due_at) FILTER (WHERE is_accepted IS NOT TRUE) AS oldest_without_credential
      FROM (
        SELECT due_at, credential_state = 'accepted'
                 AND credential_environment = (SELECT environment FROM national_environment) AS is_accepted
        FROM waiting JOIN organizations ON organizations.id = waiting.organization_id
      ) AS oldest
    )
    SELECT (
      SELECT count(*)::int FROM (
        SELECT FROM invoices WHERE ${waits(sql)} ORDER BY organization_id, due_at, id LIMIT ${exactUpTo}::int
      ) AS entry
    ) AS waiting, unsent.*, (
      SELECT min(handed_over_at) FROM (
        SELECT coalesce(sent_at, created_at) AS handed_over_at FROM national_submissions
        WHERE state IN ('sending', 'sent') ORDER BY invoice_id LIMIT ${searched}::int
      ) AS pending
    ) AS oldest_pending, (
      SELECT count(*)::int FROM (
        SELECT FROM invoices
        WHERE mode = 'live' AND status IN ('queued', 'submitting', 'retrying')
          AND send_by < to_char(now() AT TIME ZONE 'Europe/Warsaw', 'YYYY-MM-DD')
        ORDER BY send_by LIMIT ${exactUpTo}::int
      ) AS late
    ) AS offline_overdue
    FROM unsent
  `
  return row!
})
