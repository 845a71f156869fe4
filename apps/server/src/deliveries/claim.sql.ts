/**
 * The statement that claims deliveries.
 *
 * It visits the endpoints that have something available, locks the counts of their organizations, and leases the oldest
 * deliveries of each endpoint into the slots that are free: those of the organization, and those that the endpoint may take.
 */
import type { SqlClient, Statement } from "effect/sql"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"

/** The parameters of a claim. */
export interface ClaimParameters {
  readonly now: Statement.Fragment
  readonly leaseMs: number
  /** The scan begins after this endpoint. */
  readonly after: string
  /** The due time before which nothing is available, as far as this worker knows. */
  readonly since: Date
  /** How many endpoints are visited. */
  readonly endpoints: number
  /** How many deliveries are claimed at most. */
  readonly limit: number
  /** How many slots the worker has free, and how many of them are for organizations that have fewer in flight than slots are free. */
  readonly free: number
  readonly reserve: number
  /** How many of them may be for slow endpoints, and the slow endpoint that was served last: those after it are next. */
  readonly slow: number
  readonly afterSlow: string
  /** How many deliveries an organization may have in flight that has no limit of its own. */
  readonly perOrganization: number
}

/** What a claim saw. */
export interface ClaimSummary {
  /** How many endpoints were visited, the last of them, and the oldest due time. */
  readonly scanned: number
  readonly last: string | null
  readonly oldest: Date | null
  /** How many deliveries could have been claimed, had there been slots. */
  readonly candidates: number
  /** The time of the statement. */
  readonly now: Date
  /** Whether another worker held an organization, or took a delivery in between. */
  readonly is_contended: boolean
  /** Whether something available was left, because an organization, an endpoint or the claim took as much as it may. */
  readonly is_left: boolean
}

/** A row of the result: the summary, with one delivery or none. */
export type ClaimRow = ClaimSummary & (ClaimedDelivery | { readonly id: null })

// The columns that an attempt needs, of `claimed`, `events` and `webhook_endpoints`. The endpoint exists, and is the
// first of those from its `id` on: only the primary key has that order, so that a plan for an empty table takes no other index.
const columns = `
  claimed.id, claimed.organization_id, endpoint_id, event_id, fencing_token, claimed.attempt_count + 1 AS attempt_count,
  last_attempted_at, available_at, events.invoice_id, events.body, events.traceparent, url, secret, next_secret, next_secret_at,
  standard_webhooks, headers, pace = 'slow' AS endpoint_slow, enabled AND deleted_at IS NULL AS endpoint_enabled
`

/**
 * The CTEs that lease the rows of the step `picked` (`endpoint_id`, `delivery_id`, `due_at`) and count them in their organizations, and the rows
 * that an attempt needs. `stillWaits` tells that nothing has become of a delivery since the snapshot, by a condition that no partial
 * index has: rows are found by their key, also in a partition that was empty when the statement was planned.
 *
 * The first claim of a delivery changes no indexed column; that of a retry takes it out of the index of failures. No index contains
 * lease times: `next_lease_check_at` has the next. A row that another session has locked is left to a later claim, because all
 * organizations would wait for it.
 */
export const makeLease = (
  sql: SqlClient.SqlClient,
  { leaseMs, now }: Pick<ClaimParameters, "leaseMs" | "now">,
  stillWaits: Statement.Fragment
) => {
  const expiresAt = sql`${now} + ${leaseMs}::float8 * interval '1 millisecond'`
  return {
    steps: sql`
      claimed AS (
        UPDATE deliveries SET
          status = 'delivering', failure_status = NULL, is_due = true, lease_expires_at = ${expiresAt},
          fencing_token = fencing_token + 1, next_retry_at = NULL, updated_at = greatest(updated_at, ${now})
        FROM (
          SELECT picked.* FROM picked CROSS JOIN LATERAL (
            SELECT FROM deliveries
            WHERE deliveries.endpoint_id = picked.endpoint_id AND deliveries.id = delivery_id
            LIMIT 1 FOR UPDATE SKIP LOCKED
          ) AS unlocked
        ) AS picked
        WHERE deliveries.endpoint_id = picked.endpoint_id AND deliveries.id = delivery_id AND deliveries.lease_expires_at IS NULL AND ${stillWaits}
        RETURNING deliveries.id, organization_id, deliveries.endpoint_id, event_id, fencing_token, attempt_count, last_attempted_at,
                  picked.due_at AS available_at
      ), counted AS (
        UPDATE organization_concurrency SET
          in_flight = in_flight || (
            SELECT jsonb_object_agg(endpoint_id, coalesce((in_flight ->> endpoint_id)::int, 0) + n::int)
            FROM jsonb_each_text(added) AS one (endpoint_id, n)
          ),
          next_lease_check_at = least(
            next_lease_check_at, date_trunc('second', ${expiresAt} + interval '999 milliseconds')
          )
        FROM (
          SELECT organization_id, jsonb_object_agg(endpoint_id, n) AS added
          FROM (SELECT organization_id, endpoint_id, count(*) AS n FROM claimed GROUP BY 1, 2) AS of_endpoint
          GROUP BY 1
        ) AS taken
        WHERE organization_concurrency.organization_id = taken.organization_id
      )
    `,
    rows: sql`
      SELECT ${sql.literal(columns)} FROM claimed
      JOIN events ON events.id = event_id
      CROSS JOIN LATERAL (SELECT * FROM webhook_endpoints WHERE id >= endpoint_id ORDER BY id LIMIT 1) AS endpoint
    `
  }
}

/**
 * Makes the statement.
 *
 * - `scan`: the endpoints with something available, in order, one index lookup each.
 * - `organization`: the counts of their organizations, locked; those that another worker holds are skipped. A row is read as
 *   it is now, not as of the snapshot.
 * - `candidate`: the oldest deliveries of each endpoint, as many as it may take: one while it is new or slow.
 * - `picked`: gives out the slots of each organization behind those that are taken, each to the endpoint with the fewest in
 *   flight. An endpoint may have as many in flight as its organization has free slots, so that endpoints that hang leave slots
 *   for others; the only endpoint of an organization may take all. Organizations with the fewest in flight go first, and have
 *   the last slots of a worker to themselves.
 * - `claimed`, `counted`: see `makeLease`.
 */
export const claim = (sql: SqlClient.SqlClient, parameters: ClaimParameters): Statement.Statement<ClaimRow> => {
  const { after, afterSlow, endpoints, free, limit, perOrganization, reserve, since, slow } = parameters
  const { rows, steps } = makeLease(sql, parameters, sql`deliveries.is_due IS NOT FALSE`)
  return sql<ClaimRow>`
    WITH RECURSIVE scan (organization_id, endpoint_id, due_at, position) AS (
      SELECT NULL::text COLLATE "C", ${after}::text COLLATE "C", NULL::timestamptz, 0
      UNION ALL
      SELECT next.organization_id, next.endpoint_id, next.due_at, position + 1
      FROM scan CROSS JOIN LATERAL (
        SELECT organization_id, endpoint_id, due_at FROM deliveries
        WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > scan.endpoint_id AND due_at >= ${since}::timestamptz
        ORDER BY endpoint_id, due_at LIMIT 1
      ) AS next
      WHERE position < ${endpoints}::int
    ), organization AS MATERIALIZED (
      SELECT organization_concurrency.organization_id, in_flight, max_in_flight, endpoints, since
      FROM (
        SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(due_at) AS since
        FROM scan WHERE position > 0 GROUP BY organization_id
      ) AS scanned
      JOIN organization_concurrency USING (organization_id)
      FOR UPDATE OF organization_concurrency SKIP LOCKED
    ), candidate AS MATERIALIZED (
      SELECT organization.organization_id, endpoint_id, pace, most, taken, quota, in_flight_before + nth AS in_flight_before, delivery_id, due_at,
             is_only
      FROM organization
      CROSS JOIN LATERAL (
        SELECT coalesce(organization.max_in_flight, ${perOrganization}::int) AS most, coalesce(sum(n::int), 0)::int AS taken
        FROM jsonb_each_text(in_flight) AS counted (endpoint_id, n)
      ) AS capacity
      CROSS JOIN LATERAL unnest(endpoints, organization.since) AS scanned (endpoint_id, endpoint_since)
      CROSS JOIN LATERAL (
        SELECT pace, max_in_flight FROM webhook_endpoints WHERE id >= endpoint_id ORDER BY id LIMIT 1
      ) AS endpoint
      CROSS JOIN LATERAL (
        SELECT coalesce((in_flight ->> endpoint_id)::int, 0) AS in_flight_before, NOT EXISTS (
          SELECT FROM webhook_endpoints AS other
          WHERE other.organization_id = organization.organization_id AND other.deleted_at IS NULL AND other.id <> endpoint_id
        ) AS is_only
        OFFSET 0
      ) AS before
      CROSS JOIN LATERAL (
        SELECT least(
          ${limit}::int, most - taken, endpoint.max_in_flight - in_flight_before,
          CASE WHEN pace = 'steady' THEN most - taken WHEN pace = 'slow' AND endpoint_id <= ${afterSlow} THEN 0 ELSE 1 - in_flight_before END
        ) AS quota
      ) AS allowance
      CROSS JOIN LATERAL (
        SELECT delivery_id, due_at, row_number() OVER (ORDER BY due_at)::int - 1 AS nth FROM (
          SELECT id AS delivery_id, due_at FROM deliveries
          WHERE is_due AND lease_expires_at IS NULL AND endpoint_id = scanned.endpoint_id AND due_at >= endpoint_since
          ORDER BY endpoint_id, due_at LIMIT greatest(0, quota)
        ) AS oldest
      ) AS oldest
    ), picked AS MATERIALIZED (
      SELECT delivery_id, due_at, endpoint_id
      FROM (
        SELECT *, row_number() OVER turns AS nth, count(*) FILTER (WHERE pace = 'slow') OVER turns AS nth_slow
        FROM (
          SELECT *, taken + row_number() OVER (PARTITION BY organization_id ORDER BY in_flight_before, endpoint_id)::int AS slot
          FROM candidate
        ) AS numbered
        WHERE slot <= most AND (is_only OR in_flight_before < greatest(1, most - slot + 1))
        WINDOW turns AS (ORDER BY slot, endpoint_id ROWS UNBOUNDED PRECEDING)
      ) AS in_turn
      CROSS JOIN LATERAL (SELECT ${free}::int + 1 - nth + greatest(0, nth_slow - ${slow}::int) AS free_slots) AS rest
      WHERE (pace <> 'slow' OR nth_slow <= ${slow}::int) AND (free_slots > ${reserve}::int OR slot <= free_slots)
      ORDER BY slot, endpoint_id LIMIT ${limit}::int
    ), ${steps}
    SELECT summary.*, delivery.*
    FROM (
      SELECT max(position) AS scanned, max(endpoint_id) AS last, min(due_at) AS oldest, ${parameters.now} AS now,
             (SELECT count(*)::int FROM candidate) AS candidates,
             count(DISTINCT organization_id) > (SELECT count(*) FROM organization)
               OR (SELECT count(*) FROM picked) > (SELECT count(*) FROM claimed) AS is_contended,
             (SELECT count(*) FROM candidate) > (SELECT count(*) FROM picked) OR max(position) > (
               SELECT count(*) FROM (SELECT FROM candidate GROUP BY endpoint_id HAVING count(*) < max(quota)) AS exhausted
             ) AS is_left
      FROM scan
    ) AS summary
    LEFT JOIN (${rows}) AS delivery ON true
  `
}
