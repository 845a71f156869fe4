/** The statement of the scheduler: promotes due retries and releases leases that have expired. */
import { interrupted, stopped } from "./AttemptOutcome.ts"
import type { SqlClient, Statement } from "effect/sql"
import * as Interruptions from "./Interruptions.ts"

/** The parameters of the statement. */
export interface PromoteParameters {
  readonly now: Statement.Fragment
  /** The waits of the retry schedule in milliseconds. */
  readonly retrySchedule: ReadonlyArray<number>
  readonly maxRetries: number
  readonly maxOrganizations: number
  /** When a row is checked again whose counts changed during the check, in milliseconds. */
  readonly recheckMs: number
}

/** The only row of the result. */
export interface PromoteRow {
  readonly now: Date
  readonly retries: number
  readonly leases: number
  /** The deliveries that failed, because they were interrupted four times. */
  readonly stopped: ReadonlyArray<string>
  /** Whether there may be more to promote or release. */
  readonly full: boolean
  readonly next: Date | null
  readonly any_due: boolean
}

// An arbitrary number that all processes share.
const lock = 7_064_824

/**
 * Makes the statement.
 *
 * - `promotion`: the lock that lets one worker promote at a time; the others would only wait for its row locks.
 * - `promoted`: makes due retries available, except those that are attempted alone. They are due as of now, so that a claim can
 *   begin where the one before it ended.
 * - `watched`: the organizations whose lease check is due, and `leased` their leased deliveries, as many of each endpoint as are
 *   counted. Both read the snapshot, so the counts agree with the leases. No index contains lease times.
 * - `locked`: locks the counts in order and before the deliveries, as every statement does. What another session has locked is left
 *   to a later check: the worker would wait for it, and with it all organizations.
 * - `rescued`: releases expired leases. Each counts as an interruption, and the delivery is retried after a wait, or ends. The
 *   update skips a delivery that was completed since the snapshot.
 * - `updated`: writes the counts and the time of the next check. If the counts changed since the snapshot, a lease may have been
 *   missed, and the row is checked again soon.
 */
export const promote = (
  sql: SqlClient.SqlClient,
  { maxOrganizations, maxRetries, now, recheckMs, retrySchedule }: PromoteParameters
): Statement.Statement<PromoteRow> => {
  const recheckAt = sql`${now} + ${recheckMs}::float8 * interval '1 millisecond'`
  const ends = sql`interruption_count + 1 >= ${Interruptions.endsAfter}::int`
  return sql<PromoteRow>`
    WITH promotion AS MATERIALIZED (
      SELECT pg_try_advisory_xact_lock(${lock}) AS locked
    ), promoted AS (
      UPDATE deliveries SET is_due = true, due_at = ${now}
      FROM (
        SELECT endpoint_id, id FROM deliveries
        WHERE NOT is_due AND due_at <= ${now} AND interruption_count < ${Interruptions.aloneAfter}::int
          AND (SELECT locked FROM promotion)
        ORDER BY due_at LIMIT ${maxRetries}::int FOR UPDATE SKIP LOCKED
      ) AS due
      WHERE deliveries.endpoint_id = due.endpoint_id AND deliveries.id = due.id
        AND deliveries.is_due IS NOT TRUE AND deliveries.due_at <= ${now}
      RETURNING 1
    ), watched AS MATERIALIZED (
      SELECT organization_id, in_flight FROM organization_concurrency
      WHERE next_lease_check_at <= ${now} AND (SELECT locked FROM promotion)
      ORDER BY next_lease_check_at LIMIT ${maxOrganizations}::int
    ), leased AS MATERIALIZED (
      SELECT leased_delivery.* FROM watched
      CROSS JOIN LATERAL jsonb_each_text(in_flight) AS endpoint_in_flight (endpoint_id, n)
      CROSS JOIN LATERAL (
        SELECT endpoint_id, id, organization_id, lease_expires_at,
               ${now} + ${Interruptions.makeWait(sql, retrySchedule)(sql`interruption_count + 1`)} AS retry_at
        FROM deliveries
        WHERE is_due AND lease_expires_at IS NOT NULL AND endpoint_id = endpoint_in_flight.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT n::int
      ) AS leased_delivery
    ), locked AS MATERIALIZED (
      SELECT organization_id FROM organization_concurrency WHERE organization_id IN (SELECT organization_id FROM watched)
      ORDER BY organization_id FOR UPDATE SKIP LOCKED
    ), rescued AS (
      UPDATE deliveries SET
        status             = CASE WHEN ${ends} THEN 'failed' ELSE 'retrying' END,
        failure_status     = CASE WHEN ${ends} THEN 'failed' ELSE 'retrying' END,
        is_due             = false,
        lease_expires_at   = NULL,
        interruption_count = interruption_count + 1,
        last_http_status   = NULL,
        last_error_summary = CASE WHEN ${ends} THEN ${stopped} ELSE ${interrupted} END,
        next_retry_at      = CASE WHEN NOT ${ends} THEN retry_at END,
        due_at             = CASE WHEN NOT ${ends} THEN retry_at END,
        updated_at         = greatest(updated_at, ${now})
      FROM (
        SELECT leased.* FROM leased JOIN locked USING (organization_id) CROSS JOIN LATERAL (
          SELECT FROM deliveries
          WHERE deliveries.endpoint_id = leased.endpoint_id AND deliveries.id = leased.id
          LIMIT 1 FOR UPDATE SKIP LOCKED
        ) AS unlocked
        WHERE leased.lease_expires_at <= ${now}
      ) AS leased
      WHERE deliveries.endpoint_id = leased.endpoint_id AND deliveries.id = leased.id AND deliveries.lease_expires_at <= ${now}
      RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, due_at
    ), updated AS (
      UPDATE organization_concurrency SET (in_flight, next_lease_check_at) = (
        SELECT remaining, CASE
          WHEN remaining = '{}' THEN NULL
          WHEN organization_concurrency.in_flight = checked.in_flight THEN coalesce(next, ${recheckAt})
          ELSE least(next, ${recheckAt})
        END
        FROM (
          SELECT jsonb_strip_nulls(organization_concurrency.in_flight || coalesce((
            SELECT jsonb_object_agg(endpoint_id, nullif((organization_concurrency.in_flight ->> endpoint_id)::int - n, 0))
            FROM (
              SELECT endpoint_id, count(*)::int AS n FROM rescued
              WHERE rescued.organization_id = checked.organization_id GROUP BY endpoint_id
            ) AS of_endpoint
          ), '{}')) AS remaining
        ) AS freed
      )
      FROM (
        SELECT organization_id, in_flight, (
          SELECT date_trunc('second', min(lease_expires_at) + interval '999 milliseconds') FROM leased
          WHERE leased.organization_id = watched.organization_id AND lease_expires_at > ${now}
        ) AS next
        FROM watched JOIN locked USING (organization_id)
      ) AS checked
      WHERE organization_concurrency.organization_id = checked.organization_id
      RETURNING next_lease_check_at
    )
    SELECT ${now} AS now,
           (SELECT count(*)::int FROM promoted) AS retries,
           (SELECT count(*)::int FROM rescued) AS leases,
           ARRAY(SELECT id FROM rescued WHERE due_at IS NULL) AS stopped,
           (SELECT count(*) FROM promoted) = ${maxRetries}::int
             OR (SELECT count(*) FROM watched) = ${maxOrganizations}::int AS full,
           least(
             (SELECT due_at FROM deliveries WHERE NOT is_due AND due_at > ${now} ORDER BY due_at LIMIT 1),
             (
               SELECT next_lease_check_at FROM organization_concurrency WHERE next_lease_check_at > ${now}
               ORDER BY next_lease_check_at LIMIT 1
             ),
             (SELECT min(due_at) FROM rescued),
             (SELECT min(next_lease_check_at) FROM updated)
           ) AS next,
           EXISTS (SELECT FROM promoted) OR (
             SELECT true FROM deliveries WHERE is_due AND lease_expires_at IS NULL ORDER BY endpoint_id, due_at LIMIT 1
           ) IS NOT NULL AS any_due
  `
}
