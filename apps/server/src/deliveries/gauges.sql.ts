/** The parts of the statement of the queue gauges that read deliveries. */
import type { Ids } from "@govoice/core"
import type { Statement } from "effect/sql"
import type { Cte } from "../database/Cte.ts"

/** The limits of the gauges: how many entries are counted, and among how many endpoints the oldest delivery is searched. */
export interface GaugeParameters {
  readonly exactUpTo: number
  readonly maxEndpoints: number
  /** The concurrency limit of each organization. */
  readonly perOrganization: number
}

const oldestOfEndpoint: Cte<GaugeParameters> = {
  name: "oldest_of_endpoint",
  does: "Reads the oldest available delivery of each endpoint, for a limited number of endpoints.",
  reads: ["deliveries"],
  returns: ["organization_id", "endpoint_id", "due_at", "position"],
  query: (sql, { maxEndpoints }) => sql`
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
    WHERE oldest_of_endpoint.position < ${maxEndpoints}::int
  `
}

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

const wait: Cte<GaugeParameters> = {
  name: "wait",
  does: "Tells which of these deliveries wait for the concurrency limit of their organization: the others could be sent.",
  reads: ["oldest_of_endpoint", "organization_concurrency", "webhook_endpoints"],
  returns: ["due_at", "is_limited"],
  query: (sql, { perOrganization }) => sql`
    SELECT due_at, ${isLimited(sql)} FROM oldest_of_endpoint AS waiting ${withLimits(sql, perOrganization)}
  `
}

const deliveriesQueue: Cte<GaugeParameters> = {
  name: "deliveries_queue",
  does: "Counts the available deliveries up to a limit, and finds the oldest that could be sent.",
  reads: ["deliveries", "wait"],
  returns: ["queue", "index", "n", "oldest"],
  query: (sql, { exactUpTo }) => sql`
    SELECT 'deliveries', 'deliveries_due_idx', (
      SELECT count(*) FROM (
        SELECT FROM deliveries WHERE is_due AND lease_expires_at IS NULL
        ORDER BY endpoint_id, due_at LIMIT ${exactUpTo}::int
      ) AS entry
    ), (SELECT min(due_at) FROM wait WHERE NOT is_limited)
  `
}

const limitedQueue: Cte<GaugeParameters> = {
  name: "limited_queue",
  does: "Finds the oldest delivery that waits for the concurrency limit of its organization. They are not counted.",
  reads: ["wait"],
  returns: ["queue", "index", "n", "oldest"],
  query: (sql) => sql`SELECT 'limited', 'deliveries_due_idx', 0, (SELECT min(due_at) FROM wait WHERE is_limited)`
}

const retriesQueue: Cte<GaugeParameters> = {
  name: "retries_queue",
  does: "Counts the scheduled retries up to a limit, and finds the oldest.",
  reads: ["deliveries"],
  returns: ["queue", "index", "n", "oldest"],
  query: (sql, { exactUpTo }) => sql`
    SELECT 'retries', 'deliveries_retries_idx', (
      SELECT count(*) FROM (
        SELECT FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT ${exactUpTo}::int
      ) AS entry
    ), (SELECT due_at FROM deliveries WHERE due_at IS NOT NULL AND NOT is_due ORDER BY due_at LIMIT 1)
  `
}

/** Count the available deliveries and the scheduled retries: `deliveries_queue`, `limited_queue` and `retries_queue`. */
export const deliveryQueues: ReadonlyArray<Cte<GaugeParameters>> = [
  oldestOfEndpoint,
  wait,
  deliveriesQueue,
  limitedQueue,
  retriesQueue
]
