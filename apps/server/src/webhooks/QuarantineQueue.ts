/**
 * Claims deliveries in quarantine, one at a time. `DeliveryQueue` does not see them.
 *
 * Organizations take turns, and their concurrency limit holds as in `DeliveryQueue`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StatementTime } from "../database/StatementTime.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import type { ClaimedDelivery } from "./ClaimedDelivery.ts"

/** A claimed delivery with its interruptions. */
export interface QuarantinedDelivery extends ClaimedDelivery {
  readonly interruption_count: number
  readonly quarantine_interruption_count: number
}

/** Service that claims deliveries in quarantine. */
export class QuarantineQueue extends Context.Service<
  QuarantineQueue,
  {
    readonly claim: (options: {
      readonly perOrganization: number
      readonly leaseMs: number
    }) => Effect.Effect<QuarantinedDelivery | undefined, SqlError.SqlError>
  }
>()("@govoice/server/webhooks/QuarantineQueue") {}

// How many organizations a claim scans.
const maxOrganizations = 100

/** Layer that provides `QuarantineQueue` from a migrated database. */
export const layer: Layer.Layer<QuarantineQueue, never, SqlClient.SqlClient> = Layer.effect(
  QuarantineQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const inQuarantine = sql.literal(
      `due_at IS NOT NULL AND NOT is_due AND interruption_count >= ${Interruptions.quarantineAfter}`
    )
    let lastServed = ""

    // `organization_scan` visits the organizations with deliveries in quarantine, one index lookup each. `candidate` is the
    // oldest due delivery of the first organization that has a free slot, and locks its concurrency row.
    const claimOne = (after: string, perOrganization: number, now: Statement.Fragment, leaseMs: number) => {
      const leaseExpiresAt = sql`${now} + ${leaseMs}::float8 * interval '1 millisecond'`
      return sql<QuarantinedDelivery>`
        WITH RECURSIVE organization_scan (organization_id, position) AS (
          (
            SELECT organization_id, 1 FROM deliveries WHERE ${inQuarantine} AND organization_id > ${after}
            ORDER BY organization_id, due_at LIMIT 1
          )
          UNION ALL
          SELECT next.organization_id, position + 1
          FROM organization_scan CROSS JOIN LATERAL (
            SELECT organization_id FROM deliveries
            WHERE ${inQuarantine} AND organization_id > organization_scan.organization_id
            ORDER BY organization_id, due_at LIMIT 1
          ) AS next
          WHERE position < ${maxOrganizations}::int
        ), candidate AS MATERIALIZED (
          SELECT oldest.row_ctid
          FROM organization_scan JOIN organization_concurrency USING (organization_id)
          CROSS JOIN LATERAL (
            SELECT ctid AS row_ctid FROM deliveries
            WHERE ${inQuarantine} AND organization_id = organization_scan.organization_id AND due_at <= ${now}
            ORDER BY organization_id, due_at LIMIT 1
          ) AS oldest
          WHERE (SELECT coalesce(sum(n::int), 0) FROM jsonb_each_text(in_flight) AS counted (endpoint_id, n))
            < ${perOrganization}::int
          ORDER BY position LIMIT 1
          FOR UPDATE OF organization_concurrency SKIP LOCKED
        ), claimed AS (
          UPDATE deliveries SET
            status           = 'delivering',
            failure_status   = NULL,
            is_due           = true,
            lease_expires_at = ${leaseExpiresAt},
            fencing_token    = fencing_token + 1,
            next_retry_at    = NULL,
            updated_at       = greatest(updated_at, ${now})
          FROM candidate
          WHERE deliveries.ctid = row_ctid AND ${inQuarantine}
          RETURNING deliveries.*
        ), updated_concurrency AS (
          UPDATE organization_concurrency SET
            in_flight = in_flight
              || jsonb_build_object(endpoint_id, coalesce((in_flight ->> endpoint_id)::int, 0) + 1),
            next_lease_check_at = least(
              next_lease_check_at, date_trunc('second', ${leaseExpiresAt} + interval '999 milliseconds')
            )
          FROM claimed
          WHERE organization_concurrency.organization_id = claimed.organization_id
        )
        SELECT claimed.id, claimed.organization_id, endpoint_id, event_id, event_type, fencing_token,
               attempt_count + 1 AS attempt_count, interruption_count, quarantine_interruption_count, last_attempted_at,
               due_at AS available_at, events.invoice_id, events.body, events.traceparent, url, secret, next_secret,
               next_secret_at, standard_webhooks, enabled AND deleted_at IS NULL AS endpoint_enabled
        FROM claimed
        JOIN events ON events.id = event_id
        JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
      `
    }

    return {
      claim: Effect.fn("QuarantineQueue.claim")(function* ({ leaseMs, perOrganization }) {
        const now = yield* statementTime
        const [next] = yield* claimOne(lastServed, perOrganization, now, leaseMs)
        const [delivery] =
          next === undefined && lastServed !== "" ? yield* claimOne("", perOrganization, now, leaseMs) : [next]
        lastServed = delivery?.organization_id ?? ""
        return delivery
      })
    }
  })
)
