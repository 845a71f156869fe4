/**
 * The second half of a claim: CTEs that read the oldest deliveries of each endpoint and allocate the free slots to them.
 *
 * The CTEs carry all columns that later ones need, including `ctid`, because a join here would be a nested loop.
 */
import type { Cte } from "../database/Cte.ts"
import type { ClaimParameters } from "./scan.sql.ts"

// One candidate more than there are free slots tells whether the organization has more. `since` makes the read begin behind
// the index entries of completed deliveries, which stay until vacuum.
const candidate: Cte<ClaimParameters> = {
  name: "candidate",
  does: "Reads the oldest available deliveries of each endpoint, at most one more than its organization has free slots.",
  reads: ["capacity", "scan_summary", "deliveries"],
  returns: [
    "organization_id",
    "endpoint_id",
    "position",
    "organization_in_flight",
    "endpoint_in_flight",
    "free_slots",
    "quantum",
    "row_ctid",
    "due_at"
  ],
  materialized: true,
  query: (sql) => sql`
    SELECT organization_id, endpoint_id, position, organization_in_flight, endpoint_in_flight, free_slots, quantum,
           oldest.*
    FROM capacity CROSS JOIN scan_summary CROSS JOIN LATERAL (
      SELECT ctid, due_at FROM deliveries
      WHERE is_due AND lease_expires_at IS NULL AND endpoint_id = capacity.endpoint_id AND due_at >= since
      ORDER BY endpoint_id, due_at
      LIMIT CASE WHEN capacity.free_slots > 0 THEN least(capacity.free_slots + 1, quantum) ELSE 0 END
    ) AS oldest
  `
}

const ranked: Cte<ClaimParameters> = {
  name: "ranked",
  does: "Numbers the candidates of each endpoint, the oldest first, and counts what would be in flight before each.",
  reads: ["candidate"],
  returns: [
    "organization_id",
    "endpoint_id",
    "position",
    "organization_in_flight",
    "free_slots",
    "quantum",
    "row_ctid",
    "due_at",
    "rank",
    "oldest",
    "in_flight_before"
  ],
  query: (sql) => sql`
    SELECT organization_id, endpoint_id, position, organization_in_flight, free_slots, quantum, row_ctid, due_at,
           rank, oldest, endpoint_in_flight + rank - 1
    FROM (
      SELECT *, row_number() OVER oldest_first::int AS rank, first_value(due_at) OVER oldest_first AS oldest
      FROM candidate WINDOW oldest_first AS (PARTITION BY position ORDER BY due_at)
    ) AS numbered
  `
}

// An endpoint may have as many in flight as its organization has free slots left before it. The only endpoint of an
// organization may take all slots.
const allocated: Cte<ClaimParameters> = {
  name: "allocated",
  does: "Allocates the slots of an organization one by one, each to the endpoint with the fewest deliveries in flight.",
  reads: ["ranked", "webhook_endpoints"],
  returns: [
    "organization_id",
    "endpoint_id",
    "position",
    "organization_in_flight",
    "free_slots",
    "quantum",
    "row_ctid",
    "due_at",
    "rank",
    "oldest",
    "slot",
    "allowed"
  ],
  materialized: true,
  query: (sql) => sql`
    SELECT organization_id, endpoint_id, position, organization_in_flight, free_slots, quantum, row_ctid, due_at,
           rank, oldest, slot,
           slot <= free_slots AND (
             in_flight_before < greatest(1, free_slots - (slot - 1)) OR NOT EXISTS (
               SELECT FROM webhook_endpoints AS other
               WHERE other.organization_id = numbered.organization_id AND other.deleted_at IS NULL
                 AND other.id <> numbered.endpoint_id
             )
           )
    FROM (
      SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY in_flight_before, position)::int AS slot
      FROM ranked
    ) AS numbered
  `
}

// `slot <= limit` tells the planner that few rows are due. Without it, the generic plan from an empty table reads all
// available deliveries. Most claims are for general slots only, and number no rows.
const due: Cte<ClaimParameters> = {
  name: "due",
  does: "Takes the first slot of every organization, then the second, up to the limit, and up to the general slots.",
  reads: ["allocated"],
  returns: ["row_ctid", "due_at"],
  materialized: true,
  query: (sql, { general, limit }) =>
    general >= limit
      ? sql`
    SELECT row_ctid, due_at FROM allocated
    WHERE allowed AND slot <= ${limit}::int ORDER BY slot, position LIMIT ${limit}::int
  `
      : sql`
    SELECT row_ctid, due_at
    FROM (
      SELECT row_ctid, due_at, position, slot, organization_in_flight,
             row_number() OVER (ORDER BY slot, position) AS nth
      FROM allocated WHERE allowed AND slot <= ${limit}::int
    ) AS in_turn
    WHERE nth <= ${general}::int OR organization_in_flight + slot = 1
    ORDER BY slot, position LIMIT ${limit}::int
  `
}

/** The CTEs from the candidates to the deliveries that are claimed. */
export const allocationCtes: ReadonlyArray<Cte<ClaimParameters>> = [candidate, ranked, allocated, due]
