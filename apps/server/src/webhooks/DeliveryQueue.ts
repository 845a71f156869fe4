/**
 * The queue of deliveries, which is the `deliveries` table.
 *
 * A claim serves organizations in turn. It scans the endpoints that have available deliveries, beginning behind the
 * endpoint of the claim before, takes a few of each, and wraps around. Its cost depends on how much it takes, not on
 * how much is available. Concurrency limits hold over all workers: the counts of deliveries in flight are in
 * `organization_concurrency`, and every change of them locks the row. A claim skips rows that are locked.
 *
 * An endpoint may have as many deliveries in flight as its organization has free slots, so that endpoints that hang
 * always leave a slot for another. The only endpoint of an organization may use all slots.
 *
 * Leases and fencing tokens are as in `InvoiceQueue`.
 *
 * @since 0.1.0
 */
import type { DeliveryState, Ids, InvoiceEvent } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { column, textArray } from "../database/Arrays.ts"
import { StatementTime } from "../database/StatementTime.ts"

/**
 * A claimed delivery with everything that an attempt needs.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimedDelivery {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly event_id: Ids.EventId
  readonly event_type: InvoiceEvent.EventType
  readonly invoice_id: Ids.InvoiceId
  /** The fencing token of this claim. */
  readonly fencing_token: number
  /** The number of this attempt, from 1. */
  readonly attempt_count: number
  /** The time of the attempt before this one. */
  readonly last_attempted_at: Date | null
  /** The time since when it could be claimed. */
  readonly available_at: Date
  readonly body: string
  /** The trace context of the event. */
  readonly traceparent: string | null
  readonly url: string
  readonly endpoint_enabled: boolean
  readonly secret: Uint8Array
  readonly next_secret: Uint8Array | null
  readonly next_secret_at: Date | null
}

/**
 * The result of a claim.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Whether another claim may find more at once. */
  readonly more: boolean
  /** Organizations with available deliveries beyond their concurrency limit. A completion of theirs frees a slot. */
  readonly atConcurrencyLimit: ReadonlyArray<Ids.OrganizationId>
  /** The completions that were written; the lease of the others was lost. */
  readonly completed: ReadonlyArray<Ids.DeliveryId>
}

/**
 * The result of an attempt, as written to the delivery. It releases the lease.
 *
 * @category models
 * @since 0.1.0
 */
export interface Completion {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly endpoint_id: Ids.EndpointId
  readonly event_id: Ids.EventId
  readonly fencing_token: number
  readonly status: DeliveryState.Status
  readonly attempt_count: number
  /** Whether the attempt interrupted the quarantine process. */
  readonly interrupted?: boolean
  readonly last_attempted_at: string | null
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly next_retry_at: string | null
  readonly delivered_at: string | null
  readonly updated_at: string
}

/**
 * How much to claim. By default there are no `completions`, and `resume` is false.
 *
 * **Details**
 *
 * Completed deliveries leave entries at the front of the index until vacuum, and a claim passes them at every endpoint.
 * With `resume`, a claim begins behind them, so that a backlog drains as fast at its end as at its beginning. It does not
 * see deliveries that became available since with an earlier due time, such as retries and reclaimed ones.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimOptions {
  readonly limit: number
  readonly perOrganization: number
  readonly leaseMs: number
  /** Whether to begin each endpoint at the resume cursor of the claim before. */
  readonly resume?: boolean
  readonly completions?: ReadonlyArray<Completion>
}

/**
 * Service that claims and completes deliveries.
 *
 * @category services
 * @since 0.1.0
 */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    /** Writes completions and then claims, in one transaction. The slots of the completions are free for the claim. */
    readonly claim: (options: ClaimOptions) => Effect.Effect<Claim, SqlError.SqlError>
    /** Writes completions, and returns those that were written: the lease of the others was lost. */
    readonly complete: (
      completions: ReadonlyArray<Completion>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
  }
>()("@govoice/server/webhooks/DeliveryQueue") {}

// Before the first endpoint, and behind the last.
const start = ""
const end = "~"

// An endpoint with more available deliveries than were taken, and the due time of the oldest of them.
type ResumeCursor = readonly [organization: string, endpoint: string, since: string]

// The cursors are sorted and sent with every claim.
const maxResumeCursors = 1000

interface ScanSummary {
  readonly endpointsScanned: number
  readonly last: string | null
  /** Whether rows were skipped: locked by another worker, or claimed by one since the snapshot. */
  readonly skippedLocked: boolean
  readonly limitHit: boolean
  readonly atConcurrencyLimit: ReadonlyArray<Ids.OrganizationId>
  readonly resumeCursors: ReadonlyArray<ResumeCursor>
  readonly completed: ReadonlyArray<Ids.DeliveryId>
}

// The scan summary is a row of its own.
type ClaimRow = (ClaimedDelivery & { readonly scan_summary: null }) | { readonly scan_summary: ScanSummary }

const ms = (at: string | null) => (at === null ? null : Date.parse(at))

/**
 * Layer that provides `DeliveryQueue` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<DeliveryQueue, never, SqlClient.SqlClient> = Layer.effect(
  DeliveryQueue,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const statementTime = (yield* StatementTime)(sql)
    let lastServed = start
    let resumeCursors: ReadonlyArray<ResumeCursor> = []

    // Leases that expire within the same second are checked together.
    const nextLeaseCheckAt = (leaseExpiresAt: Statement.Fragment) =>
      sql`date_trunc('second', ${leaseExpiresAt} + interval '999 milliseconds')`

    // One statement and one commit: writes `completions`, then claims up to `limit`, which may be 0.
    //
    // `locked_organization` locks the concurrency rows of the completions in order, so that two workers cannot deadlock.
    // The claim locks its rows afterwards and skips those that are locked. Slots in `freed` count as free.
    //
    // `endpoint_scan` visits the endpoints with available deliveries, one index look-up each. Where there is a resume
    // cursor, it looks only between the endpoint before and the cursor, and takes the cursor in place of a look-up.
    // `claimable_organization` locks the concurrency rows; a locked row is read as it is now, not as of the snapshot.
    // `candidate` reads the oldest deliveries of each endpoint. `allocated` assigns slots one by one, each to the endpoint
    // with the fewest in flight. `due` takes the first slot of every organization, then the second. Index entries of
    // completed deliveries stay until vacuum; only `endpoint_scan` passes them, and tells `candidate` where the oldest is.
    // The update skips a delivery that another worker claimed since the snapshot. One candidate more than there are free
    // slots tells whether an organization has more.
    //
    // CTEs carry all needed columns, including ctid, because a join here would be a nested loop. A concurrency row is
    // not updated where as many deliveries were claimed as completed.
    //
    // `slot <= limit` tells the planner that few rows are due. Without it, the generic plan from an empty table reads all
    // available deliveries.
    const completeAndClaim = (
      completions: ReadonlyArray<Completion>,
      after: string,
      resumeCursors: ReadonlyArray<ResumeCursor>,
      limit: number,
      perOrganization: number,
      now: Statement.Fragment,
      leaseMs: number
    ) => {
      const leaseExpiresAt = sql`${now} + ${leaseMs}::float8 * interval '1 millisecond'`
      const cursorOrganizations = textArray(resumeCursors.map(([organization]) => organization))
      const cursorEndpoints = textArray(resumeCursors.map(([, endpoint]) => endpoint))
      const cursorDueAt = textArray(resumeCursors.map(([, , since]) => since))
      return sql<ClaimRow>`
      WITH RECURSIVE completion AS MATERIALIZED (
        SELECT * FROM unnest(
          ${column("text", completions, ({ id }) => id)},
          ${column("text", completions, ({ endpoint_id }) => endpoint_id)},
          ${column("int4", completions, ({ fencing_token }) => fencing_token)},
          ${column("text", completions, ({ status }) => status)},
          ${column("int4", completions, ({ attempt_count }) => attempt_count)},
          ${column("bool", completions, ({ interrupted }) => interrupted === true)},
          ${column("timestamptz", completions, ({ last_attempted_at }) => ms(last_attempted_at))},
          ${column("int2", completions, ({ last_http_status }) => last_http_status)},
          ${column("text", completions, ({ last_error_summary }) => last_error_summary)},
          ${column("timestamptz", completions, ({ next_retry_at }) => ms(next_retry_at))},
          ${column("timestamptz", completions, ({ updated_at }) => ms(updated_at))}
        ) AS completion (
          id, endpoint_id, fencing_token, status, attempt_count, interrupted, last_attempted_at, last_http_status,
          last_error_summary, next_retry_at, updated_at
        )
      ), locked_organization AS MATERIALIZED (
        SELECT FROM organization_concurrency
        WHERE organization_id = ANY (${textArray([...new Set(completions.map((one) => one.organization_id))])})
        ORDER BY organization_id
        FOR UPDATE
      ), completed AS (
        UPDATE deliveries SET
          status             = completion.status,
          failure_status     = CASE
            WHEN completion.status IN ('retrying', 'failed', 'endpoint_disabled') THEN completion.status
          END,
          is_due             = false,
          lease_expires_at   = NULL,
          attempt_count      = completion.attempt_count,
          interruption_count            = interruption_count + completion.interrupted::int,
          quarantine_interruption_count = quarantine_interruption_count + completion.interrupted::int,
          last_attempted_at  = completion.last_attempted_at,
          last_http_status   = completion.last_http_status,
          last_error_summary = completion.last_error_summary,
          next_retry_at      = completion.next_retry_at,
          delivered_at       = CASE completion.status WHEN 'succeeded' THEN completion.updated_at END,
          due_at             = completion.next_retry_at,
          updated_at         = greatest(deliveries.updated_at, completion.updated_at)
        FROM completion
        WHERE deliveries.endpoint_id = completion.endpoint_id AND deliveries.id = completion.id
          AND deliveries.fencing_token = completion.fencing_token AND deliveries.lease_expires_at IS NOT NULL
          AND (SELECT count(*) FROM locked_organization) > 0
        RETURNING deliveries.id, organization_id, deliveries.endpoint_id
      ), freed AS MATERIALIZED (
        SELECT coalesce(jsonb_object_agg(endpoint_id, n), '{}') AS by_endpoint
        FROM (SELECT endpoint_id, count(*) AS n FROM completed GROUP BY endpoint_id) AS completed
      ), endpoint_scan (organization_id, endpoint_id, since, cursor, position) AS (
        SELECT NULL::text COLLATE "C", ${after}::text COLLATE "C", NULL::timestamptz, 1, 0
        UNION ALL
        SELECT next.*, position + 1
        FROM endpoint_scan CROSS JOIN LATERAL (
          (
            SELECT organization_id, endpoint_id, due_at, endpoint_scan.cursor FROM deliveries
            WHERE is_due AND lease_expires_at IS NULL AND endpoint_id > endpoint_scan.endpoint_id
              AND endpoint_id < coalesce((${cursorEndpoints})[cursor], ${end})
            ORDER BY endpoint_id, due_at LIMIT 1
          )
          UNION ALL
          SELECT (${cursorOrganizations})[cursor], (${cursorEndpoints})[cursor], (${cursorDueAt})[cursor]::timestamptz, cursor + 1
          WHERE cursor <= ${resumeCursors.length}::int
          LIMIT 1
        ) AS next
        WHERE position < ${limit}::int
      ), scanned_endpoints AS MATERIALIZED (
        SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(since) AS since,
               array_agg(position) AS positions
        FROM endpoint_scan WHERE position > 0 GROUP BY organization_id
      ), scan_summary AS MATERIALIZED (
        SELECT max(position) AS endpoints_scanned, 2 * ${limit}::int / greatest(1, max(position)) + 2 AS quantum FROM endpoint_scan
      ), claimable_organization AS MATERIALIZED (
        SELECT organization_concurrency.organization_id, organization_concurrency.in_flight, endpoints, since, positions
        FROM scanned_endpoints JOIN organization_concurrency USING (organization_id)
        WHERE (SELECT by_endpoint FROM freed) IS NOT NULL
        FOR UPDATE OF organization_concurrency SKIP LOCKED
      ), capacity AS MATERIALIZED (
        SELECT organization_id, endpoint_id, scanned_endpoints.since, position,
               coalesce((in_flight ->> endpoint_id)::int, 0) - coalesce((by_endpoint ->> endpoint_id)::int, 0) AS endpoint_in_flight,
               ${perOrganization}::int - (
                 SELECT coalesce(sum(n::int - coalesce((by_endpoint ->> counted_endpoint)::int, 0)), 0)::int
                 FROM jsonb_each_text(in_flight) AS counted (counted_endpoint, n)
               ) AS free_slots
        FROM freed CROSS JOIN claimable_organization
        CROSS JOIN LATERAL unnest(endpoints, claimable_organization.since, positions) AS scanned_endpoints (endpoint_id, since, position)
      ), candidate AS MATERIALIZED (
        SELECT organization_id, endpoint_id, position, endpoint_in_flight, free_slots, quantum, oldest.*
        FROM capacity CROSS JOIN scan_summary CROSS JOIN LATERAL (
          SELECT ctid AS row_ctid, due_at
          FROM deliveries
          WHERE is_due AND lease_expires_at IS NULL AND endpoint_id = capacity.endpoint_id AND due_at >= since
          ORDER BY endpoint_id, due_at
          LIMIT CASE WHEN capacity.free_slots > 0 THEN least(capacity.free_slots + 1, quantum) ELSE 0 END
        ) AS oldest
      ), ranked AS (
        SELECT *, endpoint_in_flight + rank - 1 AS in_flight_before
        FROM (
          SELECT *, row_number() OVER oldest_first::int AS rank, first_value(due_at) OVER oldest_first AS oldest
          FROM candidate WINDOW oldest_first AS (PARTITION BY position ORDER BY due_at)
        ) AS candidate
      ), allocated AS MATERIALIZED (
        SELECT *, slot <= free_slots AND (
                 in_flight_before < greatest(1, free_slots - (slot - 1)) OR NOT EXISTS (
                   SELECT FROM webhook_endpoints AS other
                   WHERE other.organization_id = ranked.organization_id AND other.deleted_at IS NULL
                     AND other.id <> ranked.endpoint_id
                 )
               ) AS allowed
        FROM (
          SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY in_flight_before, position)::int AS slot FROM ranked
        ) AS ranked
      ), due AS MATERIALIZED (
        SELECT row_ctid, due_at FROM allocated
        WHERE allowed AND slot <= ${limit}::int ORDER BY slot, position LIMIT ${limit}::int
      ), claimed AS (
        UPDATE deliveries SET
          status            = 'delivering',
          failure_status    = NULL,
          lease_expires_at  = ${leaseExpiresAt},
          fencing_token     = fencing_token + 1,
          next_retry_at     = NULL,
          updated_at        = greatest(updated_at, ${now})
        FROM due
        WHERE deliveries.ctid = row_ctid AND deliveries.is_due AND deliveries.lease_expires_at IS NULL
        RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, event_id, event_type, fencing_token,
                  attempt_count + 1 AS attempt_count, last_attempted_at, due.due_at AS available_at
      ), updated_concurrency AS (
        UPDATE organization_concurrency SET
          in_flight = jsonb_strip_nulls(organization_concurrency.in_flight || (
            SELECT jsonb_object_agg(endpoint_id, nullif(coalesce((organization_concurrency.in_flight ->> endpoint_id)::int, 0) + n, 0))
            FROM unnest(endpoints, counts) AS changed (endpoint_id, n)
          )),
          next_lease_check_at = CASE
            WHEN ${limit}::int > 0 THEN least(organization_concurrency.next_lease_check_at, ${nextLeaseCheckAt(leaseExpiresAt)})
            ELSE organization_concurrency.next_lease_check_at
          END
        FROM (
          SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(n) AS counts
          FROM (
            SELECT organization_id, endpoint_id, sum(n)::int AS n
            FROM (
              SELECT organization_id, endpoint_id, 1 AS n FROM claimed
              UNION ALL
              SELECT organization_id, endpoint_id, -1 FROM completed
            ) AS change
            GROUP BY organization_id, endpoint_id
            HAVING sum(n) <> 0
          ) AS change
          GROUP BY organization_id
        ) AS change
        WHERE organization_concurrency.organization_id = change.organization_id
      )
      SELECT claimed.id, claimed.organization_id, endpoint_id, event_id, event_type, fencing_token, attempt_count,
             last_attempted_at, available_at, events.invoice_id, events.body, events.traceparent, url, secret,
             next_secret, next_secret_at, enabled AND deleted_at IS NULL AS endpoint_enabled, summary.scan_summary
      FROM (
        SELECT json_build_object(
          'endpointsScanned', scan_summary.endpoints_scanned,
          'last', (SELECT endpoint_id FROM endpoint_scan WHERE position = scan_summary.endpoints_scanned),
          'skippedLocked', (SELECT count(*) FROM claimable_organization) < (SELECT count(*) FROM scanned_endpoints)
            OR (SELECT count(*) FROM claimed) < (SELECT count(*) FROM due),
          'limitHit', EXISTS (SELECT FROM allocated WHERE allowed AND rank = quantum)
            OR (SELECT count(*) FROM due) = ${limit}::int,
          'atConcurrencyLimit', ARRAY(
            SELECT organization_id FROM capacity WHERE free_slots <= 0
            UNION SELECT organization_id FROM allocated WHERE NOT allowed
          ),
          'resumeCursors', ARRAY(
            SELECT json_build_array(organization_id, endpoint_id, since) FROM capacity WHERE free_slots <= 0
            UNION ALL
            SELECT json_build_array(organization_id, endpoint_id, oldest) FROM allocated WHERE rank = least(free_slots + 1, quantum)
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

    const claimAfter = Effect.fnUntraced(function* (
      after: string,
      { completions = [], leaseMs, limit, perOrganization }: ClaimOptions
    ) {
      const now = yield* statementTime
      const ahead = resumeCursors.filter(([, endpoint]) => endpoint > after)
      const rows = yield* completeAndClaim(completions, after, ahead, limit, perOrganization, now, leaseMs)
      const deliveries: Array<ClaimedDelivery> = []
      let summary: ScanSummary = {
        endpointsScanned: 0,
        last: null,
        skippedLocked: false,
        limitHit: false,
        atConcurrencyLimit: [],
        resumeCursors: [],
        completed: []
      }
      for (const row of rows) {
        if (row.scan_summary === null) deliveries.push(row)
        else summary = row.scan_summary
      }
      const ended = summary.endpointsScanned < limit
      const next = ended ? start : (summary.last ?? start)
      resumeCursors = [
        ...resumeCursors.filter(([, endpoint]) => endpoint <= after || (!ended && endpoint > next)),
        ...summary.resumeCursors
      ].toSorted(([, left], [, right]) => (left < right ? -1 : 1))
      lastServed = next
      return { summary, ended, next, deliveries }
    })

    return {
      // Repeats until it has claimed something or has visited every endpoint.
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        const first = lastServed
        if (options.resume !== true || resumeCursors.length > maxResumeCursors) resumeCursors = []
        let position = first
        let wrapped = first === start
        let skippedLocked = false
        let completed: ReadonlyArray<Ids.DeliveryId> | undefined
        const atConcurrencyLimit = new Set<Ids.OrganizationId>()
        while (true) {
          const { deliveries, ended, next, summary } = yield* claimAfter(
            position,
            completed === undefined ? options : { ...options, completions: [] }
          )
          completed ??= summary.completed
          skippedLocked ||= summary.skippedLocked
          for (const id of summary.atConcurrencyLimit) atConcurrencyLimit.add(id)
          if (deliveries.length > 0) {
            const more = skippedLocked || summary.limitHit || !ended || !wrapped
            return { deliveries, more, atConcurrencyLimit: [...atConcurrencyLimit], completed }
          }
          // All visited: at the end if the first statement began at the start, else past the place where it began.
          const visitedAll = ended ? wrapped : wrapped && first !== start && next >= first
          if (visitedAll)
            return { deliveries, more: skippedLocked, atConcurrencyLimit: [...atConcurrencyLimit], completed }
          wrapped ||= ended
          position = next
        }
      }),

      complete: Effect.fn("DeliveryQueue.complete")(function* (completions) {
        const now = yield* statementTime
        const [row] = yield* completeAndClaim(completions, start, [], 0, 0, now, 0)
        return row?.scan_summary?.completed ?? []
      })
    }
  })
)
