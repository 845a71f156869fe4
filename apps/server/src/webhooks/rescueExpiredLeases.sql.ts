/**
 * The second half of the scheduler's statement: CTEs that release the leases that have expired. The CTE `promotion` holds the
 * lock that lets one worker do so at a time.
 */
import { DeliveryVerdict } from "@govoice/core"
import type { Statement } from "effect/sql"
import type { Cte } from "../database/Cte.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import * as leases from "./leaseTimes.sql.ts"

/** The parameters of the CTEs. */
export interface RescueParameters {
  readonly now: Statement.Fragment
  /** The waits of the retry schedule in milliseconds. */
  readonly retrySchedule: ReadonlyArray<number>
  readonly maxOrganizations: number
  /** When a row is checked again whose counts changed during the check, in milliseconds. */
  readonly recheckMs: number
}

const interrupted = DeliveryVerdict.judge({ _tag: "interrupted" }, true)

// `watched` and `leased` read the snapshot, so the counts agree with the leases.
const watched: Cte<RescueParameters> = {
  name: "watched",
  does: "Reads the organizations whose lease check is due.",
  reads: ["promotion", "organization_concurrency"],
  returns: ["organization_id", "in_flight"],
  materialized: true,
  query: (sql, { maxOrganizations, now }) => sql`
    SELECT organization_id, in_flight FROM organization_concurrency
    WHERE next_lease_check_at <= ${now} AND (SELECT locked FROM promotion)
    ORDER BY next_lease_check_at LIMIT ${maxOrganizations}::int
  `
}

// No index contains lease times: the counts bound the number of rows to read.
const leased: Cte<RescueParameters> = {
  name: "leased",
  does: "Reads the leased deliveries of the watched organizations, as many of each endpoint as are counted.",
  reads: ["watched", "deliveries"],
  returns: ["row_ctid", "organization_id", "lease_expires_at", "retry_at"],
  materialized: true,
  query: (sql, { now, retrySchedule }) => sql`
    SELECT leased_delivery.* FROM watched
    CROSS JOIN LATERAL jsonb_each_text(in_flight) AS endpoint_in_flight (endpoint_id, n)
    CROSS JOIN LATERAL (
      SELECT ctid, organization_id, lease_expires_at,
             ${now} + ${Interruptions.makeWait(sql, retrySchedule)(sql`interruption_count + 1`)}
      FROM deliveries
      WHERE is_due AND lease_expires_at IS NOT NULL AND endpoint_id = endpoint_in_flight.endpoint_id
      ORDER BY endpoint_id, due_at LIMIT n::int
    ) AS leased_delivery
  `
}

const lockedOrganization: Cte<RescueParameters> = {
  name: "locked_organization",
  does: "Locks the concurrency rows in order and before the deliveries, as every statement does.",
  reads: ["watched", "organization_concurrency"],
  returns: [],
  materialized: true,
  query: (sql) => sql`
    SELECT FROM organization_concurrency WHERE organization_id IN (SELECT organization_id FROM watched)
    ORDER BY organization_id
    FOR UPDATE
  `
}

// The update skips a delivery that was completed since the snapshot.
const rescued: Cte<RescueParameters> = {
  name: "rescued",
  does: "Releases expired leases: each counts as an interruption, and the delivery is retried after a wait.",
  reads: ["leased", "locked_organization", "deliveries"],
  returns: ["organization_id", "endpoint_id", "due_at"],
  query: (sql, { now }) => sql`
    UPDATE deliveries SET
      status             = 'retrying',
      failure_status     = 'retrying',
      is_due             = false,
      lease_expires_at   = NULL,
      interruption_count = interruption_count + 1,
      last_http_status   = NULL,
      last_error_summary = ${interrupted.summary},
      next_retry_at      = retry_at,
      due_at             = retry_at,
      updated_at         = greatest(updated_at, ${now})
    FROM leased
    WHERE deliveries.ctid = row_ctid AND deliveries.lease_expires_at <= ${now}
      AND leased.lease_expires_at <= ${now} AND (SELECT count(*) FROM locked_organization) > 0
    RETURNING deliveries.organization_id, deliveries.endpoint_id, due_at
  `
}

const checked: Cte<RescueParameters> = {
  name: "checked",
  does: "Adds up the rescued deliveries of each watched organization, and finds when its next lease expires.",
  reads: ["watched", "leased", "rescued"],
  returns: ["organization_id", "in_flight", "endpoints", "counts", "next"],
  materialized: true,
  query: (sql, { now }) => sql`
    SELECT organization_id, in_flight, endpoints, counts, (
      SELECT ${leases.checkAt(sql, sql`min(lease_expires_at)`)} FROM leased
      WHERE leased.organization_id = watched.organization_id AND lease_expires_at > ${now}
    )
    FROM watched LEFT JOIN (
      SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(n) AS counts
      FROM (
        SELECT organization_id, endpoint_id, count(*)::int AS n FROM rescued GROUP BY organization_id, endpoint_id
      ) AS of_endpoint
      GROUP BY organization_id
    ) AS of_organization USING (organization_id)
  `
}

// If the counts changed since the snapshot, a lease may have been missed, and the row is checked again soon. If as many were
// claimed as completed, the counts did not change, but the leases of those claims expire last.
const updatedConcurrency: Cte<RescueParameters> = {
  name: "updated_concurrency",
  does: "Writes the counts of deliveries in flight and the time of the next lease check.",
  reads: ["checked", "organization_concurrency"],
  returns: ["next_lease_check_at"],
  query: (sql, { now, recheckMs }) => {
    const recheckAt = sql`${now} + ${recheckMs}::float8 * interval '1 millisecond'`
    return sql`
      UPDATE organization_concurrency SET (in_flight, next_lease_check_at) = (
        SELECT remaining, CASE
          WHEN remaining = '{}' THEN NULL
          WHEN organization_concurrency.in_flight = checked.in_flight THEN coalesce(next, ${recheckAt})
          ELSE least(next, ${recheckAt})
        END
        FROM (
          SELECT jsonb_strip_nulls(organization_concurrency.in_flight || coalesce((
            SELECT jsonb_object_agg(endpoint_id, nullif((organization_concurrency.in_flight ->> endpoint_id)::int - n, 0))
            FROM unnest(endpoints, counts) AS endpoint_in_flight (endpoint_id, n)
          ), '{}')) AS remaining
        ) AS freed
      )
      FROM checked
      WHERE organization_concurrency.organization_id = checked.organization_id
      RETURNING next_lease_check_at
    `
  }
}

/** The CTEs from the organizations whose lease check is due to the counts without the expired leases. */
export const rescueCtes: ReadonlyArray<Cte<RescueParameters>> = [
  watched,
  leased,
  lockedOrganization,
  rescued,
  checked,
  updatedConcurrency
]
