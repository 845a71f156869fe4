/**
 * CTEs that change the counts of deliveries in flight. They read `slot_change`, in which each statement counts slots up or
 * down by endpoint.
 */
import type { Statement } from "effect/sql"
import type { Cte } from "../database/Cte.ts"

/** Adds up the changes of each organization. */
export const concurrencyChange: Cte<object> = {
  name: "concurrency_change",
  does: "Adds up the changes of each organization by endpoint, and drops those that cancel out.",
  reads: ["slot_change"],
  returns: ["organization_id", "endpoints", "counts"],
  query: (sql) => sql`
    SELECT organization_id, array_agg(endpoint_id), array_agg(n)
    FROM (
      SELECT organization_id, endpoint_id, sum(n)::int AS n FROM slot_change
      GROUP BY organization_id, endpoint_id
      HAVING sum(n) <> 0
    ) AS endpoint_change
    GROUP BY organization_id
  `
}

/** Writes the new counts. `leaseCheckAt` is the time of the lease check for new leases, if the statement makes any. */
export const updateConcurrency = <P>(
  leaseCheckAt: (sql: Statement.Constructor, parameters: P) => Statement.Fragment | undefined
): Cte<P> => ({
  name: "updated_concurrency",
  does: "Writes the counts of deliveries in flight; a row is not written if as many were claimed as completed.",
  reads: ["concurrency_change", "organization_concurrency"],
  returns: [],
  query: (sql, parameters) => {
    const at = leaseCheckAt(sql, parameters)
    return sql`
      UPDATE organization_concurrency SET
        in_flight = jsonb_strip_nulls(in_flight || (
          SELECT jsonb_object_agg(endpoint_id, nullif(coalesce((in_flight ->> endpoint_id)::int, 0) + n, 0))
          FROM unnest(endpoints, counts) AS changed (endpoint_id, n)
        ))
        ${at === undefined ? sql`` : sql`, next_lease_check_at = least(next_lease_check_at, ${at})`}
      FROM concurrency_change
      WHERE organization_concurrency.organization_id = concurrency_change.organization_id
    `
  }
})
