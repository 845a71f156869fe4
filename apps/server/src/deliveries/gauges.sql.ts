/** The queues of deliveries, and which deliveries wait for the concurrency limit of their organization. */
import type { Ids } from "@govoice/core"
import type { Statement } from "effect/sql"

/** Joins the limits and what is in flight to rows named `waiting`, of the oldest delivery of an endpoint each. */
const withLimits = (sql: Statement.Constructor, perOrganization: number): Statement.Fragment => sql`
  JOIN organization_concurrency AS organization USING (organization_id)
  JOIN webhook_endpoints AS endpoint ON endpoint.id = waiting.endpoint_id
  CROSS JOIN LATERAL (
    SELECT coalesce(organization.max_in_flight, ${perOrganization}::int) - coalesce(sum(n::int), 0) AS free,
           coalesce((in_flight ->> waiting.endpoint_id)::int, 0) AS own
    FROM jsonb_each_text(in_flight) AS counted (endpoint_id, n)
  ) AS slots
`

// By the rules of the claim: an endpoint has as many in flight as it may, or waits for a slot of the slow ones; one that is not the
// only one leaves as many slots to the others as it has in flight.
const isLimited = (sql: Statement.Constructor): Statement.Fragment => sql`
  free <= 0 OR pace = 'slow' OR (pace = 'new' AND own > 0) OR coalesce(own >= endpoint.max_in_flight, false)
  OR (own >= greatest(1, free) AND EXISTS (
    SELECT FROM webhook_endpoints AS other
    WHERE other.organization_id = waiting.organization_id AND other.deleted_at IS NULL AND other.id <> waiting.endpoint_id
  ))
`

/** Selects since when the oldest delivery waits for the concurrency limit of its organization, as `since`. */
export const selectLimitedSince = (
  sql: Statement.Constructor,
  id: Ids.OrganizationId,
  perOrganization: number
): Statement.Fragment => sql`
  SELECT min(due_at) AS since
  FROM (
    SELECT of_organization.organization_id, of_organization.id AS endpoint_id, due_at
    FROM webhook_endpoints AS of_organization CROSS JOIN LATERAL (
      SELECT due_at FROM deliveries
      WHERE endpoint_id = of_organization.id AND is_due AND lease_expires_at IS NULL ORDER BY endpoint_id, due_at LIMIT 1
    ) AS oldest
    WHERE of_organization.organization_id = ${id} AND of_organization.deleted_at IS NULL
  ) AS waiting ${withLimits(sql, perOrganization)}
  WHERE ${isLimited(sql)}
`

/**
 * Counts the available deliveries and the scheduled retries up to a limit, and finds the oldest: of those available, the one that could
 * be sent, and as `limited` the one that waits for the limit of its organization. They are searched among so many endpoints: the index
 * leads from the oldest of one to that of the next.
 */
export const deliveryQueues = (
  sql: Statement.Constructor,
  options: { readonly exactUpTo: number; readonly maxEndpoints: number; readonly perOrganization: number }
): Statement.Fragment => sql`
  WITH RECURSIVE oldest_of_endpoint (organization_id, endpoint_id, due_at, position) AS (
    (
      SELECT organization_id, endpoint_id, due_at, 1 FROM deliveries WHERE is_due AND lease_expires_at IS NULL
      ORDER BY endpoint_id, due_at LIMIT 1
    )
    UNION ALL
    SELECT next.*, oldest_of_endpoint.position + 1
    FROM oldest_of_endpoint CROSS JOIN LATERAL (
      SELECT organization_id, endpoint_id, due_at FROM deliveries
      WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > oldest_of_endpoint.endpoint_id
      ORDER BY endpoint_id, due_at LIMIT 1
    ) AS next
    WHERE oldest_of_endpoint.position < ${options.maxEndpoints}::int
  ), wait (due_at, is_limited) AS (
    SELECT due_at, ${isLimited(sql)} FROM oldest_of_endpoint AS waiting ${withLimits(sql, options.perOrganization)}
  )
  SELECT 'deliveries', 'deliveries_due_idx', (
    SELECT count(*) FROM (
      SELECT FROM deliveries WHERE is_due AND lease_expires_at IS NULL
      ORDER BY endpoint_id, due_at LIMIT ${options.exactUpTo}::int
    ) AS entry
  ), (SELECT min(due_at) FROM wait WHERE NOT is_limited)
  UNION ALL
  SELECT 'limited', 'deliveries_due_idx', 0, (SELECT min(due_at) FROM wait WHERE is_limited)
  UNION ALL
  SELECT 'retries', 'deliveries_retries_idx', (
    SELECT count(*) FROM (
      SELECT FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT ${options.exactUpTo}::int
    ) AS entry
  ), (SELECT due_at FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT 1)
`
