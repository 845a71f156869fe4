/**
 * The first half of a claim: CTEs that find endpoints with available deliveries and the slots that their organizations have
 * left.
 */
import { textArray } from "../database/Arrays.ts"
import type { Cte } from "../database/Cte.ts"
import type { CompleteParameters } from "./complete.sql.ts"
import { end, type ResumeCursor } from "./EndpointScan.ts"
import type { LeaseParameters } from "./leaseTimes.sql.ts"

/** The parameters of a claim. */
export interface ClaimParameters extends CompleteParameters, LeaseParameters {
  /** The endpoint behind which the scan begins. */
  readonly after: string
  /** The resume cursors behind `after`, in order. */
  readonly resumeCursors: ReadonlyArray<ResumeCursor>
  /** The partitions of the organizations to claim for; all if absent. */
  readonly partitions: ReadonlyArray<string> | undefined
  /** The maximum number of deliveries to claim. */
  readonly limit: number
  /** How many of them may be of organizations that have deliveries in flight, or more than the first of one that has none. */
  readonly general: number
  /** The concurrency limit of each organization. */
  readonly perOrganization: number
}

// A lookup takes some microseconds: a scan past so many endpoints takes a few milliseconds.
const maxForeignScanned = 1000

const freed: Cte<ClaimParameters> = {
  name: "freed",
  does: "Counts the slots that the completions free, so that this claim can use them.",
  reads: ["completed"],
  returns: ["by_endpoint"],
  materialized: true,
  query: (sql) => sql`
    SELECT coalesce(jsonb_object_agg(endpoint_id, n), '{}')
    FROM (SELECT endpoint_id, count(*) AS n FROM completed GROUP BY endpoint_id) AS completed
  `
}

// Between two endpoints it looks up the next available delivery in the index, up to the next resume cursor. If there is
// none before the cursor, it takes the cursor, whose due time is known, in place of a lookup. Only endpoints in the given
// partitions count for the limit; the others are passed, up to a bound of their own.
const endpointScan: Cte<ClaimParameters> = {
  name: "endpoint_scan",
  does: "Visits the endpoints with available deliveries in order, one index lookup or resume cursor each.",
  reads: ["deliveries"],
  returns: ["organization_id", "endpoint_id", "since", "cursor", "position", "is_own", "own_scanned"],
  query: (sql, { after, limit, partitions, resumeCursors }) => {
    const organizations = textArray(resumeCursors.map(([organization]) => organization))
    const endpoints = textArray(resumeCursors.map(([, endpoint]) => endpoint))
    const dueTimes = textArray(resumeCursors.map(([, , since]) => since))
    const own = partitions === undefined ? null : textArray(partitions)
    return sql`
      SELECT NULL::text COLLATE "C", ${after}::text COLLATE "C", NULL::timestamptz, 1, 0, false, 0
      UNION ALL
      SELECT next.*, position + 1, partition.is_own, own_scanned + partition.is_own::int
      FROM endpoint_scan CROSS JOIN LATERAL (
        (
          SELECT organization_id, endpoint_id, due_at, endpoint_scan.cursor FROM deliveries
          WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > endpoint_scan.endpoint_id
            AND endpoint_id < coalesce((${endpoints})[cursor], ${end})
          ORDER BY endpoint_id, due_at LIMIT 1
        )
        UNION ALL
        SELECT (${organizations})[cursor], (${endpoints})[cursor], (${dueTimes})[cursor]::timestamptz, cursor + 1
        WHERE cursor <= ${resumeCursors.length}::int
        LIMIT 1
      ) AS next
      CROSS JOIN LATERAL (SELECT coalesce(right(next.organization_id, 1) = ANY(${own}::text[]), true)) AS partition (is_own)
      WHERE own_scanned < ${limit}::int AND position < ${limit}::int + ${maxForeignScanned}::int
    `
  }
}

const scannedEndpoints: Cte<ClaimParameters> = {
  name: "scanned_endpoints",
  does: "Groups the scanned endpoints by organization, those of the partitions that the claim is for.",
  reads: ["endpoint_scan"],
  returns: ["organization_id", "endpoints", "since", "positions"],
  materialized: true,
  query: (sql) => sql`
    SELECT organization_id, array_agg(endpoint_id), array_agg(since), array_agg(position)
    FROM endpoint_scan WHERE is_own GROUP BY organization_id
  `
}

const scanSummary: Cte<ClaimParameters> = {
  name: "scan_summary",
  does: "Derives from the number of scanned endpoints how many deliveries to read of each (the quantum).",
  reads: ["endpoint_scan"],
  returns: ["endpoints_scanned", "quantum", "ended"],
  materialized: true,
  query: (sql, { general, limit }) =>
    sql`
      SELECT max(position), 2 * ${general}::int / greatest(1, max(own_scanned)) + 2,
             max(own_scanned) < ${limit}::int AND max(position) < ${limit}::int + ${maxForeignScanned}::int
      FROM endpoint_scan
    `
}

// `freed` is read first, so that the rows of the completions are locked before these. A row that another worker has locked
// is skipped; one that is not is read as it is now, not as of the snapshot.
const claimableOrganization: Cte<ClaimParameters> = {
  name: "claimable_organization",
  does: "Locks the concurrency rows of the scanned organizations, and skips those that another worker has locked.",
  reads: ["scanned_endpoints", "freed", "organization_concurrency"],
  returns: ["organization_id", "in_flight", "endpoints", "since", "positions"],
  materialized: true,
  query: (sql) => sql`
    SELECT organization_concurrency.organization_id, organization_concurrency.in_flight, endpoints, since, positions
    FROM scanned_endpoints JOIN organization_concurrency USING (organization_id)
    WHERE (SELECT by_endpoint FROM freed) IS NOT NULL
    FOR UPDATE OF organization_concurrency SKIP LOCKED
  `
}

// Without general slots, an organization may take one slot if it has no delivery in flight, and none otherwise.
const capacity: Cte<ClaimParameters> = {
  name: "capacity",
  does: "Computes how many slots each organization has left, and how many deliveries each endpoint has in flight.",
  reads: ["claimable_organization", "freed"],
  returns: [
    "organization_id",
    "endpoint_id",
    "since",
    "position",
    "organization_in_flight",
    "endpoint_in_flight",
    "free_slots"
  ],
  materialized: true,
  query: (sql, { general, perOrganization }) => sql`
    SELECT organization_id, endpoint_id, endpoint.since, position, counted.n,
           coalesce((in_flight ->> endpoint_id)::int, 0) - coalesce((by_endpoint ->> endpoint_id)::int, 0),
           CASE WHEN ${general}::int > 0 THEN ${perOrganization}::int - counted.n ELSE (counted.n = 0)::int END
    FROM freed CROSS JOIN claimable_organization
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(n::int - coalesce((by_endpoint ->> counted_endpoint)::int, 0)), 0)::int
      FROM jsonb_each_text(in_flight) AS in_flight_of (counted_endpoint, n)
    ) AS counted (n)
    CROSS JOIN LATERAL unnest(endpoints, claimable_organization.since, positions)
      AS endpoint (endpoint_id, since, position)
  `
}

/** The CTEs from the scan of the endpoints to their capacity. */
export const scanCtes: ReadonlyArray<Cte<ClaimParameters>> = [
  freed,
  endpointScan,
  scannedEndpoints,
  scanSummary,
  claimableOrganization,
  capacity
]
