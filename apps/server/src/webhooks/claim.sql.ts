/** The statement that writes completions and claims deliveries, in one commit. */
import type { Ids } from "@govoice/core"
import type { Cte, CteStatement } from "../database/Cte.ts"
import { allocationCtes } from "./allocation.sql.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"
import { completionCtes } from "./complete.sql.ts"
import { concurrencyChange, updateConcurrency } from "./concurrency.sql.ts"
import type { ResumeCursor } from "./EndpointScan.ts"
import * as leases from "./leaseTimes.sql.ts"
import { type ClaimParameters, scanCtes } from "./scan.sql.ts"

/** The result of a claim beside its deliveries. */
export interface ScanSummary {
  /** Whether the scan reached the last endpoint. */
  readonly ended: boolean
  /** The last endpoint that was scanned. */
  readonly last: string | null
  /** Whether rows were skipped: locked by another worker, or claimed by one since the snapshot. */
  readonly skippedLocked: boolean
  /** Whether an endpoint or the claim took as many as it may, or general slots were missing. */
  readonly limitHit: boolean
  readonly atConcurrencyLimit: ReadonlyArray<Ids.OrganizationId>
  readonly resumeCursors: ReadonlyArray<ResumeCursor>
  readonly completed: ReadonlyArray<Ids.DeliveryId>
}

/** A row of the result. The scan summary is a row of its own. */
export type ClaimRow = (ClaimedDelivery & { readonly scan_summary: null }) | { readonly scan_summary: ScanSummary }

// The update skips a delivery that another worker has claimed since the snapshot.
const claimed: Cte<ClaimParameters> = {
  name: "claimed",
  does: "Leases the due deliveries and increases their fencing tokens; no indexed column changes.",
  reads: ["due", "deliveries"],
  returns: [
    "id",
    "organization_id",
    "endpoint_id",
    "event_id",
    "event_type",
    "fencing_token",
    "attempt_count",
    "last_attempted_at",
    "available_at"
  ],
  query: (sql, parameters) => sql`
    UPDATE deliveries SET
      status           = 'delivering',
      failure_status   = NULL,
      lease_expires_at = ${leases.expiresAt(sql, parameters)},
      fencing_token    = fencing_token + 1,
      next_retry_at    = NULL,
      updated_at       = greatest(updated_at, ${parameters.now})
    FROM due
    WHERE deliveries.ctid = row_ctid AND deliveries.is_due AND deliveries.lease_expires_at IS NULL
    RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, event_id, event_type, fencing_token,
              attempt_count + 1, last_attempted_at, due.due_at
  `
}

const slotChange: Cte<ClaimParameters> = {
  name: "slot_change",
  does: "Counts a slot up for each claimed delivery, and down for each completed one.",
  reads: ["claimed", "completed"],
  returns: ["organization_id", "endpoint_id", "n"],
  query: (sql) => sql`
    SELECT organization_id, endpoint_id, 1 FROM claimed
    UNION ALL
    SELECT organization_id, endpoint_id, -1 FROM completed
  `
}

const updatedConcurrency = updateConcurrency<ClaimParameters>((sql, parameters) =>
  leases.checkAt(sql, leases.expiresAt(sql, parameters))
)

/** Writes completions, then claims. The slots of the completions are free for the claim. */
export const claim: CteStatement<ClaimParameters> = {
  name: "claim",
  does: "Writes completions, then claims the oldest available deliveries, organization by organization, in one commit.",
  ctes: [...completionCtes, ...scanCtes, ...allocationCtes, claimed, slotChange, concurrencyChange, updatedConcurrency],
  query: (sql, { limit }) => sql`
    SELECT claimed.id, claimed.organization_id, endpoint_id, event_id, event_type, fencing_token, attempt_count,
           last_attempted_at, available_at, events.invoice_id, events.body, events.traceparent, url, secret,
           next_secret, next_secret_at, standard_webhooks, enabled AND deleted_at IS NULL AS endpoint_enabled, summary.scan_summary
    FROM (
      SELECT json_build_object(
        'ended', scan_summary.ended,
        'last', (SELECT endpoint_id FROM endpoint_scan WHERE position = scan_summary.endpoints_scanned),
        'skippedLocked', (SELECT count(*) FROM claimable_organization) < (SELECT count(*) FROM scanned_endpoints)
          OR (SELECT count(*) FROM claimed) < (SELECT count(*) FROM due),
        'limitHit', EXISTS (SELECT FROM allocated WHERE allowed AND rank = quantum)
          OR (SELECT count(*) FROM due) = ${limit}::int
          OR (SELECT count(*) FROM due) < (SELECT count(*) FROM allocated WHERE allowed),
        'atConcurrencyLimit', ARRAY(
          SELECT organization_id FROM capacity WHERE free_slots <= 0
          UNION SELECT organization_id FROM allocated WHERE NOT allowed
        ),
        'resumeCursors', ARRAY(
          SELECT json_build_array(organization_id, endpoint_id, since) FROM capacity WHERE free_slots <= 0
          UNION ALL
          SELECT json_build_array(organization_id, endpoint_id, oldest) FROM allocated
          WHERE rank = least(free_slots + 1, quantum)
          UNION ALL
          SELECT json_build_array(organization_id, endpoint_id, since) FROM endpoint_scan WHERE position > 0 AND NOT is_own
        ),
        'completed', ARRAY(SELECT id FROM completed)
      ) AS scan_summary
      FROM scan_summary
    ) AS summary
    FULL JOIN (
      claimed
      JOIN events ON events.id = event_id
      JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
    ) ON false
  `
}
