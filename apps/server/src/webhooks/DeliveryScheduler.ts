/**
 * Promotes retries that are due and rescues deliveries whose lease expired.
 *
 * An expired lease releases the delivery and its concurrency slot, and the completion of its worker is discarded. It counts
 * as an interruption, and the delivery is retried after a wait. Deliveries in quarantine are not promoted. No index
 * contains lease times: `organization_concurrency` has the time of the next lease check, and its counts bound the number
 * of leases to find.
 *
 * @since 0.1.0
 */
import { DeliveryVerdict } from "@govoice/core"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StatementTime } from "../database/StatementTime.ts"
import * as Interruptions from "../jobs/Interruptions.ts"
import { Settings } from "../settings/Settings.ts"

/**
 * What was promoted and rescued. Times are in milliseconds since the epoch.
 *
 * @category models
 * @since 0.1.0
 */
export interface Promoted {
  readonly retries: number
  readonly leases: number
  /** When the next retry is due or the next lease check is; absent when there is none. */
  readonly next: number | undefined
  /** Whether there is anything to claim. */
  readonly anyDue: boolean
}

/**
 * Service that promotes due retries and rescues expired leases.
 *
 * @category services
 * @since 0.1.0
 */
export class DeliveryScheduler extends Context.Service<
  DeliveryScheduler,
  { readonly promoteDue: Effect.Effect<Promoted, SqlError.SqlError> }
>()("@govoice/server/webhooks/DeliveryScheduler") {}

const maxRetries = 1000
const maxOrganizations = 200

const recheckMs = 1000

// An arbitrary number that all processes share.
const lock = 7_064_824

/**
 * Layer that provides `DeliveryScheduler` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DeliveryScheduler, never, SqlClient.SqlClient | Settings> = Layer.effect(
  DeliveryScheduler,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    const { webhooks } = yield* Settings
    const interrupted = DeliveryVerdict.judge({ _tag: "interrupted" }, true)
    const interruptionWait = Interruptions.makeWait(sql, webhooks.waits)

    // The advisory lock lets one worker promote at a time: the others would only wait for its row locks. `watched` and
    // `leased` read the snapshot, so the counts agree with the leases. Concurrency rows are locked before deliveries, as in
    // every statement. The update skips a delivery that was completed since the snapshot. If the counts changed since, a
    // lease may have been missed, and the row is checked again soon. If as many were claimed as completed, the counts did not
    // change, but the leases of those claims expire last.
    const promote = (now: Statement.Fragment) => sql<{
      readonly now: Date
      readonly retries: number
      readonly leases: number
      readonly full: boolean
      readonly next: Date | null
      readonly any_due: boolean
    }>`
      WITH promotion AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${lock}) AS locked
      ), promoted AS (
        UPDATE deliveries SET is_due = true
        FROM (
          SELECT endpoint_id, id FROM deliveries
          WHERE NOT is_due AND due_at <= ${now} AND interruption_count < ${Interruptions.quarantineAfter}::int
            AND (SELECT locked FROM promotion)
          ORDER BY due_at LIMIT ${maxRetries}::int
        ) AS due
        WHERE deliveries.endpoint_id = due.endpoint_id AND deliveries.id = due.id
          AND NOT deliveries.is_due AND deliveries.due_at <= ${now}
        RETURNING 1
      ), watched AS MATERIALIZED (
        SELECT organization_id, in_flight FROM organization_concurrency
        WHERE next_lease_check_at <= ${now} AND (SELECT locked FROM promotion)
        ORDER BY next_lease_check_at LIMIT ${maxOrganizations}::int
      ), leased AS MATERIALIZED (
        SELECT leased.* FROM watched CROSS JOIN LATERAL jsonb_each_text(in_flight) AS endpoint_in_flight (endpoint_id, n)
        CROSS JOIN LATERAL (
          SELECT ctid AS row_ctid, organization_id, lease_expires_at,
                 ${now} + ${interruptionWait(sql`interruption_count + 1`)} AS retry_at
          FROM deliveries
          WHERE is_due AND lease_expires_at IS NOT NULL AND endpoint_id = endpoint_in_flight.endpoint_id
          ORDER BY endpoint_id, due_at LIMIT n::int
        ) AS leased
      ), locked_organization AS MATERIALIZED (
        SELECT FROM organization_concurrency WHERE organization_id IN (SELECT organization_id FROM watched)
        ORDER BY organization_id
        FOR UPDATE
      ), rescued AS (
        UPDATE deliveries SET
          status             = 'retrying',
          failure_status     = 'retrying',
          is_due             = false,
          lease_expires_at   = NULL,
          interruption_count = interruption_count + 1,
          last_http_status   = NULL,
          last_error_summary = ${interrupted.summary},
          next_retry_at      = retry_at,
          due_at             = retry_at,
          updated_at         = greatest(updated_at, ${now})
        FROM leased
        WHERE deliveries.ctid = row_ctid AND deliveries.lease_expires_at <= ${now}
          AND leased.lease_expires_at <= ${now} AND (SELECT count(*) FROM locked_organization) > 0
        RETURNING deliveries.organization_id, deliveries.endpoint_id, due_at
      ), checked AS MATERIALIZED (
        SELECT organization_id, in_flight, endpoints, counts, (
          SELECT date_trunc('second', min(lease_expires_at) + interval '999 milliseconds') FROM leased
          WHERE leased.organization_id = watched.organization_id AND lease_expires_at > ${now}
        ) AS next
        FROM watched LEFT JOIN (
          SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(n) AS counts
          FROM (
            SELECT organization_id, endpoint_id, count(*)::int AS n FROM rescued GROUP BY organization_id, endpoint_id
          ) AS rescued
          GROUP BY organization_id
        ) AS rescued USING (organization_id)
      ), updated_concurrency AS (
        UPDATE organization_concurrency SET (in_flight, next_lease_check_at) = (
          SELECT remaining, CASE
            WHEN remaining = '{}' THEN NULL
            WHEN organization_concurrency.in_flight = checked.in_flight THEN coalesce(next, ${now} + ${recheckMs}::float8 * interval '1 millisecond')
            ELSE least(next, ${now} + ${recheckMs}::float8 * interval '1 millisecond')
          END
          FROM (
            SELECT jsonb_strip_nulls(organization_concurrency.in_flight || coalesce((
              SELECT jsonb_object_agg(endpoint_id, nullif((organization_concurrency.in_flight ->> endpoint_id)::int - n, 0))
              FROM unnest(endpoints, counts) AS endpoint_in_flight (endpoint_id, n)
            ), '{}')) AS remaining
          ) AS freed
        )
        FROM checked
        WHERE organization_concurrency.organization_id = checked.organization_id
        RETURNING next_lease_check_at
      )
      SELECT ${now} AS now,
             (SELECT count(*)::int FROM promoted) AS retries,
             (SELECT count(*)::int FROM rescued) AS leases,
             (SELECT count(*) FROM promoted) = ${maxRetries}::int
               OR (SELECT count(*) FROM watched) = ${maxOrganizations}::int AS full,
             least(
               (SELECT due_at FROM deliveries WHERE NOT is_due AND due_at > ${now} ORDER BY due_at LIMIT 1),
               (SELECT next_lease_check_at FROM organization_concurrency WHERE next_lease_check_at > ${now} ORDER BY next_lease_check_at LIMIT 1),
               (SELECT min(due_at) FROM rescued),
               (SELECT min(next_lease_check_at) FROM updated_concurrency)
             ) AS next,
             EXISTS (SELECT FROM promoted) OR (
               SELECT true FROM deliveries WHERE is_due AND lease_expires_at IS NULL ORDER BY endpoint_id, due_at LIMIT 1
             ) IS NOT NULL AS any_due
    `

    const promoteDue = Effect.gen(function* () {
      const clock = yield* Clock.currentTimeMillis
      const [row] = yield* promote(yield* statementTime)
      const { any_due: anyDue, full, leases, next, now, retries } = row!
      // In the time of `Clock`, which may differ from that of the database. After a full batch there may be more.
      const waitMs = full ? 0 : next === null ? undefined : next.getTime() - now.getTime()
      return { retries, leases, anyDue, next: waitMs === undefined ? undefined : clock + waitMs }
    }).pipe(Effect.withSpan("DeliveryScheduler.promoteDue"))

    return { promoteDue }
  })
)
