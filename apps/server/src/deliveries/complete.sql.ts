/** The statement that writes completions. */
import type { Ids } from "@govoice/core"
import type { SqlClient, Statement } from "effect/sql"
import { column, textArray } from "../database/Arrays.ts"
import type { Completion } from "./Completion.ts"
import { copyStatusOfFailures } from "./failureStatus.sql.ts"

const ms = (at: string | null) => (at === null ? null : Date.parse(at))

/** What became of a completion: without a row, the lease of its delivery was lost. */
export interface CompleteRow {
  readonly id: Ids.DeliveryId
  /** Whether it was written; otherwise a row that it needs is locked. */
  readonly is_written: boolean
}

/** How long a completion waits for rows that are locked. Others of its batch wait with it. */
const lockTimeout = "1s"

/**
 * Writes each completion whose delivery is still leased under its fencing token, releases its lease, frees its slot, and records how fast its endpoint
 * is and since when it fails. Returns those that were written: the lease of the others was lost.
 *
 * Every statement locks the counts of organizations first, in order and before the deliveries, so that no two block each other.
 * Other workers lock them for a moment, and another session may for long. With `waits`, the statement fails after a second then.
 * Without, it leaves out completions whose rows are locked, and returns them too. If an endpoint is locked, what is recorded of it is
 * left out, with and without.
 *
 * An endpoint is slow from an attempt that timed out or could not connect until one that succeeds; a new one is steady once it
 * has answered. It fails from an attempt that failed until one that succeeds, in whatever order a batch has them. `failed_at`
 * moves every five minutes at most, so that a failing endpoint is not written with every batch.
 */
export const complete = (
  sql: SqlClient.SqlClient,
  completions: ReadonlyArray<Completion>,
  { waits }: { readonly waits: boolean }
): Statement.Statement<CompleteRow> => {
  // What a batch tells of an endpoint goes with the last of its completions.
  const telling = completions.filter(({ works }) => works !== null)
  const last = new Map(telling.map((one) => [one.endpoint_id, one]))
  const working = new Set(telling.filter(({ works }) => works).map(({ endpoint_id }) => endpoint_id))
  return sql`
    WITH locked AS MATERIALIZED (
      SELECT organization_id FROM organization_concurrency
      WHERE organization_id = ANY (${textArray([...new Set(completions.map((one) => one.organization_id))])})
        AND (SELECT set_config('lock_timeout', ${lockTimeout}, true)) IS NOT NULL
      ORDER BY organization_id FOR UPDATE ${waits ? sql`` : sql`SKIP LOCKED`}
    ), completed AS (
      UPDATE deliveries SET
        status             = one.status,
        failure_status     = ${copyStatusOfFailures(sql, sql`one.status`)},
        is_due             = false,
        lease_expires_at   = NULL,
        attempt_count      = one.attempt_count,
        last_attempted_at  = one.last_attempted_at,
        last_http_status   = one.last_http_status,
        last_error_summary = one.last_error_summary,
        next_retry_at      = one.next_retry_at,
        delivered_at       = CASE one.status WHEN 'succeeded' THEN one.updated_at END,
        due_at             = one.next_retry_at,
        updated_at         = greatest(deliveries.updated_at, one.updated_at)
      FROM unnest(
        ${column("text", completions, ({ id }) => id)},
        ${column("text", completions, ({ endpoint_id }) => endpoint_id)},
        ${column("int4", completions, ({ fencing_token }) => fencing_token)},
        ${column("text", completions, ({ status }) => status)},
        ${column("int4", completions, ({ attempt_count }) => attempt_count)},
        ${column("timestamptz", completions, ({ last_attempted_at }) => ms(last_attempted_at))},
        ${column("int2", completions, ({ last_http_status }) => last_http_status)},
        ${column("text", completions, ({ last_error_summary }) => last_error_summary)},
        ${column("timestamptz", completions, ({ next_retry_at }) => ms(next_retry_at))},
        ${column("timestamptz", completions, ({ updated_at }) => ms(updated_at))},
        ${column("text", completions, ({ pace }) => pace)},
        ${column("bool", completions, (one) => (last.get(one.endpoint_id) === one ? one.works : null))},
        ${column("bool", completions, (one) => working.has(one.endpoint_id))}
      ) AS one (
        id, endpoint_id, fencing_token, status, attempt_count, last_attempted_at, last_http_status, last_error_summary, next_retry_at,
        updated_at, pace, works, any_works
      ) ${
        waits
          ? sql``
          : sql`CROSS JOIN LATERAL (
              SELECT FROM deliveries WHERE deliveries.endpoint_id = one.endpoint_id AND deliveries.id = one.id
              LIMIT 1 FOR UPDATE SKIP LOCKED
            ) AS unlocked`
      }
      WHERE deliveries.endpoint_id = one.endpoint_id AND deliveries.id = one.id
        AND deliveries.fencing_token = one.fencing_token AND deliveries.lease_expires_at IS NOT NULL
        AND deliveries.organization_id = ANY (ARRAY(SELECT organization_id FROM locked))
      RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, one.updated_at AS ended_at, pace, works, any_works
    ), counted AS (
      UPDATE organization_concurrency SET in_flight = jsonb_strip_nulls(in_flight || (
        SELECT jsonb_object_agg(endpoint_id, nullif((in_flight ->> endpoint_id)::int - n::int, 0))
        FROM jsonb_each_text(removed) AS one (endpoint_id, n)
      ))
      FROM (
        SELECT organization_id, jsonb_object_agg(endpoint_id, n) AS removed
        FROM (SELECT organization_id, endpoint_id, count(*) AS n FROM completed GROUP BY 1, 2) AS of_endpoint
        GROUP BY 1
      ) AS freed
      WHERE organization_concurrency.organization_id = freed.organization_id
    ), paced AS (
      UPDATE webhook_endpoints SET
        pace          = new_pace,
        failing_since = CASE WHEN NOT any_works THEN coalesce(endpoint.failing_since, ended_at) END,
        failed_at     = CASE WHEN NOT any_works THEN ended_at END
      FROM (SELECT endpoint_id, pace, works, ended_at, any_works FROM completed WHERE works IS NOT NULL) AS last
      CROSS JOIN LATERAL (
        SELECT ctid AS row_ctid, pace, failing_since, failed_at FROM webhook_endpoints WHERE id >= last.endpoint_id ORDER BY id LIMIT 1
      ) AS endpoint
      CROSS JOIN LATERAL (
        SELECT CASE WHEN endpoint.pace <> 'slow' OR works THEN coalesce(last.pace, endpoint.pace) ELSE 'slow' END AS new_pace
      ) AS next
      CROSS JOIN LATERAL (SELECT FROM webhook_endpoints WHERE ctid = row_ctid FOR UPDATE SKIP LOCKED) AS unlocked
      WHERE webhook_endpoints.ctid = row_ctid AND (
        new_pace <> endpoint.pace OR CASE
          WHEN any_works THEN endpoint.failing_since IS NOT NULL
          ELSE endpoint.failed_at IS NULL OR endpoint.failed_at < ended_at - interval '5 minutes'
        END
      )
    )
    SELECT id, true AS is_written FROM completed
    ${
      waits
        ? sql``
        : sql`UNION ALL
            SELECT one.id, false FROM unnest(
              ${column("text", completions, ({ id }) => id)},
              ${column("text", completions, ({ endpoint_id }) => endpoint_id)},
              ${column("int4", completions, ({ fencing_token }) => fencing_token)}
            ) AS one (id, endpoint_id, fencing_token)
            CROSS JOIN LATERAL (
              SELECT FROM deliveries
              WHERE deliveries.endpoint_id = one.endpoint_id AND deliveries.id = one.id
                AND deliveries.fencing_token = one.fencing_token AND deliveries.lease_expires_at IS NOT NULL
            ) AS leased
            WHERE one.id <> ALL (ARRAY(SELECT id FROM completed))`
    }
  `
}
