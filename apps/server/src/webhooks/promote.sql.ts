/** The statement of the scheduler: promotes due retries and rescues deliveries whose lease expired. */
import type { Cte, CteStatement } from "../database/Cte.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import { rescueCtes, type RescueParameters } from "./rescueExpiredLeases.sql.ts"

/** The parameters of the statement. */
export interface PromoteParameters extends RescueParameters {
  readonly maxRetries: number
}

/** The only row of the result. */
export interface PromoteRow {
  readonly now: Date
  readonly retries: number
  readonly leases: number
  /** Whether there may be more to promote or rescue. */
  readonly full: boolean
  readonly next: Date | null
  readonly any_due: boolean
}

// An arbitrary number that all processes share.
const lock = 7_064_824

const promotion: Cte<PromoteParameters> = {
  name: "promotion",
  does: "Tries the advisory lock that lets one worker promote at a time; the others would only wait for its row locks.",
  reads: [],
  returns: ["locked"],
  materialized: true,
  query: (sql) => sql`SELECT pg_try_advisory_xact_lock(${lock})`
}

const promoted: Cte<PromoteParameters> = {
  name: "promoted",
  does: "Makes due retries available, except those in quarantine.",
  reads: ["promotion", "deliveries"],
  returns: ["n"],
  query: (sql, { maxRetries, now }) => sql`
    UPDATE deliveries SET is_due = true
    FROM (
      SELECT endpoint_id, id FROM deliveries
      WHERE NOT is_due AND due_at <= ${now} AND interruption_count < ${Interruptions.quarantineAfter}::int
        AND (SELECT locked FROM promotion)
      ORDER BY due_at LIMIT ${maxRetries}::int
    ) AS due
    WHERE deliveries.endpoint_id = due.endpoint_id AND deliveries.id = due.id
      AND NOT deliveries.is_due AND deliveries.due_at <= ${now}
    RETURNING 1
  `
}

/** Promotes and rescues, and tells when to do so next. */
export const promote: CteStatement<PromoteParameters> = {
  name: "promote",
  does: "Makes due retries available and releases expired leases, in one commit.",
  ctes: [promotion, promoted, ...rescueCtes],
  query: (sql, { maxOrganizations, maxRetries, now }) => sql`
    SELECT ${now} AS now,
           (SELECT count(*)::int FROM promoted) AS retries,
           (SELECT count(*)::int FROM rescued) AS leases,
           (SELECT count(*) FROM promoted) = ${maxRetries}::int
             OR (SELECT count(*) FROM watched) = ${maxOrganizations}::int AS full,
           least(
             (SELECT due_at FROM deliveries WHERE NOT is_due AND due_at > ${now} ORDER BY due_at LIMIT 1),
             (
               SELECT next_lease_check_at FROM organization_concurrency WHERE next_lease_check_at > ${now}
               ORDER BY next_lease_check_at LIMIT 1
             ),
             (SELECT min(due_at) FROM rescued),
             (SELECT min(next_lease_check_at) FROM updated_concurrency)
           ) AS next,
           EXISTS (SELECT FROM promoted) OR (
             SELECT true FROM deliveries WHERE is_due AND lease_expires_at IS NULL ORDER BY endpoint_id, due_at LIMIT 1
           ) IS NOT NULL AS any_due
  `
}
