/** The parts of the statement of the queue gauges that read deliveries. */
import type { Cte } from "../database/Cte.ts"

/** The limits of the gauges: how many entries are counted, and among how many endpoints the oldest delivery is searched. */
export interface GaugeParameters {
  readonly exactUpTo: number
  readonly maxEndpoints: number
}

const oldestOfEndpoint: Cte<GaugeParameters> = {
  name: "oldest_of_endpoint",
  does: "Reads the oldest available delivery of each endpoint, for a limited number of endpoints.",
  reads: ["deliveries"],
  returns: ["endpoint_id", "due_at", "position"],
  query: (sql, { maxEndpoints }) => sql`
    (
      SELECT endpoint_id, due_at, 1 FROM deliveries WHERE is_due AND lease_expires_at IS NULL
      ORDER BY endpoint_id, due_at LIMIT 1
    )
    UNION ALL
    SELECT next.*, oldest_of_endpoint.position + 1
    FROM oldest_of_endpoint CROSS JOIN LATERAL (
      SELECT endpoint_id, due_at FROM deliveries
      WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > oldest_of_endpoint.endpoint_id
      ORDER BY endpoint_id, due_at LIMIT 1
    ) AS next
    WHERE oldest_of_endpoint.position < ${maxEndpoints}::int
  `
}

const deliveriesQueue: Cte<GaugeParameters> = {
  name: "deliveries_queue",
  does: "Counts the available deliveries up to a limit, and finds the oldest.",
  reads: ["deliveries", "oldest_of_endpoint"],
  returns: ["queue", "index", "n", "oldest"],
  query: (sql, { exactUpTo }) => sql`
    SELECT 'deliveries', 'deliveries_due_idx', (
      SELECT count(*) FROM (
        SELECT FROM deliveries WHERE is_due AND lease_expires_at IS NULL
        ORDER BY endpoint_id, due_at LIMIT ${exactUpTo}::int
      ) AS entry
    ), (SELECT min(due_at) FROM oldest_of_endpoint)
  `
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

/** Count the available deliveries and the scheduled retries: `deliveries_queue` and `retries_queue`. */
export const deliveryQueues: ReadonlyArray<Cte<GaugeParameters>> = [oldestOfEndpoint, deliveriesQueue, retriesQueue]
