/** The statement that writes completions, and the CTEs that a claim shares with it. */
import type { Statement } from "effect/sql"
import { column, textArray } from "../database/Arrays.ts"
import type { Cte, CteStatement } from "../database/Cte.ts"
import type { Completion } from "./Completion.ts"
import { concurrencyChange, updateConcurrency } from "./concurrency.sql.ts"
import { copyStatusOfFailures } from "./failureStatus.sql.ts"

/** The parameters of a statement that writes completions. */
export interface CompleteParameters {
  readonly completions: ReadonlyArray<Completion>
  readonly now: Statement.Fragment
}

const ms = (at: string | null) => (at === null ? null : Date.parse(at))

const completion: Cte<CompleteParameters> = {
  name: "completion",
  does: "Reads the completions from the parameters, one array for each column.",
  reads: [],
  returns: [
    "id",
    "endpoint_id",
    "fencing_token",
    "status",
    "attempt_count",
    "interrupted",
    "last_attempted_at",
    "last_http_status",
    "last_error_summary",
    "next_retry_at",
    "updated_at"
  ],
  materialized: true,
  query: (sql, { completions }) => sql`
    SELECT * FROM unnest(
      ${column("text", completions, ({ id }) => id)},
      ${column("text", completions, ({ endpoint_id }) => endpoint_id)},
      ${column("int4", completions, ({ fencing_token }) => fencing_token)},
      ${column("text", completions, ({ status }) => status)},
      ${column("int4", completions, ({ attempt_count }) => attempt_count)},
      ${column("bool", completions, ({ interrupted }) => interrupted === true)},
      ${column("timestamptz", completions, ({ last_attempted_at }) => ms(last_attempted_at))},
      ${column("int2", completions, ({ last_http_status }) => last_http_status)},
      ${column("text", completions, ({ last_error_summary }) => last_error_summary)},
      ${column("timestamptz", completions, ({ next_retry_at }) => ms(next_retry_at))},
      ${column("timestamptz", completions, ({ updated_at }) => ms(updated_at))}
    )
  `
}

const lockedOrganization: Cte<CompleteParameters> = {
  name: "locked_organization",
  does: "Locks the concurrency rows of the completions in order, so that two workers cannot deadlock.",
  reads: ["organization_concurrency"],
  returns: [],
  materialized: true,
  query: (sql, { completions }) => sql`
    SELECT FROM organization_concurrency
    WHERE organization_id = ANY (${textArray([...new Set(completions.map((one) => one.organization_id))])})
    ORDER BY organization_id
    FOR UPDATE
  `
}

const completed: Cte<CompleteParameters> = {
  name: "completed",
  does: "Writes each completion whose fencing token still matches, and releases the lease.",
  reads: ["completion", "locked_organization", "deliveries"],
  returns: ["id", "organization_id", "endpoint_id"],
  query: (sql) => sql`
    UPDATE deliveries SET
      status             = completion.status,
      failure_status     = ${copyStatusOfFailures(sql, sql`completion.status`)},
      is_due             = false,
      lease_expires_at   = NULL,
      attempt_count      = completion.attempt_count,
      interruption_count            = interruption_count + completion.interrupted::int,
      quarantine_interruption_count = quarantine_interruption_count + completion.interrupted::int,
      last_attempted_at  = completion.last_attempted_at,
      last_http_status   = completion.last_http_status,
      last_error_summary = completion.last_error_summary,
      next_retry_at      = completion.next_retry_at,
      delivered_at       = CASE completion.status WHEN 'succeeded' THEN completion.updated_at END,
      due_at             = completion.next_retry_at,
      updated_at         = greatest(deliveries.updated_at, completion.updated_at)
    FROM completion
    WHERE deliveries.endpoint_id = completion.endpoint_id AND deliveries.id = completion.id
      AND deliveries.fencing_token = completion.fencing_token AND deliveries.lease_expires_at IS NOT NULL
      AND (SELECT count(*) FROM locked_organization) > 0
    RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id
  `
}

/** The CTEs that write completions. */
export const completionCtes: ReadonlyArray<Cte<CompleteParameters>> = [completion, lockedOrganization, completed]

const releasedSlot: Cte<CompleteParameters> = {
  name: "slot_change",
  does: "Counts a slot down for each completed delivery.",
  reads: ["completed"],
  returns: ["organization_id", "endpoint_id", "n"],
  query: (sql) => sql`SELECT organization_id, endpoint_id, -1 FROM completed`
}

/** Writes completions. It returns the `id` of those that were written: the lease of the others was lost. */
export const complete: CteStatement<CompleteParameters> = {
  name: "complete",
  does: "Writes the results of attempts, releases their leases and frees their slots, in one commit.",
  ctes: [...completionCtes, releasedSlot, concurrencyChange, updateConcurrency(() => undefined)],
  query: (sql) => sql`SELECT id FROM completed`
}
