/**
 * The deliveries that are not finished, as a queue in the `deliveries` table.
 *
 * Organizations take turns. A claim starts behind the organization that the claim before ended with, takes from each
 * what is due and what its bound leaves room for, and goes round. What it costs depends on how much it takes, not on how
 * much is waiting. The bound holds over all workers, because the count of what is in flight stands in the lane of the
 * organization, and a claim locks the lanes it counts by; a lane that another worker has locked is passed over.
 *
 * Claims and fencing numbers are as in `InvoiceQueue`.
 *
 * @since 0.1.0
 */
import type { DeliveryState, Ids, InvoiceEvent } from "@govoice/core"
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { textArray } from "../store/TextArray.ts"

/**
 * A delivery in the hands of a worker, with all that an attempt needs.
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
  /** The fencing number of this claim. */
  readonly claims: number
  /** How many attempts were begun, the one that this claim is for included. */
  readonly attempt_count: number
  /** The time of the attempt before this one. */
  readonly last_attempted_at: Date | null
  /** Whether the claim takes over from a worker that let its lease run out. */
  readonly taken_over: boolean
  readonly body: string
  readonly url: string
  readonly endpoint_usable: boolean
  readonly secret: Uint8Array
  readonly next_secret: Uint8Array | null
  readonly next_secret_at: Date | null
}

/**
 * What a worker writes when it lets go of a delivery.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settlement {
  readonly id: Ids.DeliveryId
  readonly organization_id: Ids.OrganizationId
  readonly claims: number
  readonly status: DeliveryState.Status
  readonly attempt_count: number
  readonly last_attempted_at: string | null
  readonly last_http_status: number | null
  readonly last_error_summary: string | null
  readonly next_retry_at: string | null
  readonly delivered_at: string | null
  readonly updated_at: string
}

/**
 * Service that claims deliveries and lets go of them.
 *
 * @category services
 * @since 0.1.0
 */
export class DeliveryQueue extends Context.Service<
  DeliveryQueue,
  {
    readonly claim: (options: {
      readonly limit: number
      readonly perOrganization: number
      readonly leaseMs: number
    }) => Effect.Effect<ReadonlyArray<ClaimedDelivery>>
    /** Writes settlements, and returns the deliveries that were still in these hands. */
    readonly settle: (settlements: ReadonlyArray<Settlement>) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>>
    /** When the next retry after a point in time is due. Both in milliseconds since the epoch. */
    readonly nextDueAfter: (milliseconds: number) => Effect.Effect<number | undefined>
  }
>()("@govoice/server/engine/DeliveryQueue") {}

// How many organizations one claim looks at.
const turns = 64

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
    const lastServed = yield* Ref.make("")

    // `turn` walks the organizations that have unfinished deliveries, one index look-up each. `lane` locks their lanes;
    // a row that is locked is read as it is now, not as it was when the statement began. `due` takes the oldest of each.
    const claimDue = (after: string, limit: number, perOrganization: number, now: Date, lease: Date) => sql<ClaimedDelivery>`
      WITH RECURSIVE turn (organization_id, position) AS (
        (
          SELECT organization_id, 1 FROM deliveries
          WHERE due_at IS NOT NULL AND organization_id > ${after}
          ORDER BY organization_id, due_at LIMIT 1
        )
        UNION ALL
        SELECT next.organization_id, turn.position + 1
        FROM turn CROSS JOIN LATERAL (
          SELECT organization_id FROM deliveries
          WHERE due_at IS NOT NULL AND organization_id > turn.organization_id
          ORDER BY organization_id, due_at LIMIT 1
        ) AS next
        WHERE turn.position < ${turns}
      ), lane AS MATERIALIZED (
        SELECT lanes.organization_id, in_flight, position
        FROM turn JOIN lanes USING (organization_id)
        FOR UPDATE OF lanes SKIP LOCKED
      ), due AS MATERIALIZED (
        SELECT candidate.*
        FROM (SELECT * FROM lane ORDER BY position) AS lane
        CROSS JOIN LATERAL (
          SELECT id, organization_id, status = 'delivering' AS taken_over, last_attempted_at
          FROM deliveries
          WHERE organization_id = lane.organization_id AND due_at <= ${now}
          ORDER BY due_at, id
          LIMIT greatest(0, ${perOrganization} - lane.in_flight)
          FOR UPDATE SKIP LOCKED
        ) AS candidate
        LIMIT ${limit}
      ), claimed AS (
        UPDATE deliveries SET
          status            = 'delivering',
          claims            = claims + 1,
          attempt_count     = attempt_count + 1,
          last_attempted_at = ${now},
          next_retry_at     = NULL,
          due_at            = ${lease},
          updated_at        = ${now}
        FROM due WHERE deliveries.id = due.id
        RETURNING deliveries.id, deliveries.organization_id, endpoint_id, event_id, event_type, claims, attempt_count,
                  due.last_attempted_at, due.taken_over
      ), counted AS (
        UPDATE lanes SET in_flight = in_flight + added.n
        FROM (
          SELECT organization_id, count(*)::int AS n FROM claimed WHERE NOT taken_over GROUP BY organization_id
        ) AS added
        WHERE lanes.organization_id = added.organization_id
      )
      SELECT claimed.*, body, url, secret, next_secret, next_secret_at,
             enabled AND deleted_at IS NULL AS endpoint_usable
      FROM claimed
      JOIN events ON events.id = event_id
      JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
    `

    // The lanes are locked first and in order, so that two settlements at once wait instead of blocking each other.
    const updateSettled = (settlements: ReadonlyArray<Settlement>) => sql<{ readonly id: Ids.DeliveryId }>`
      WITH outcome AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${PgTypes.jsonb(settlements)}) AS outcome (
          id text, claims int, status text, attempt_count int, last_attempted_at timestamptz, last_http_status smallint,
          last_error_summary text, next_retry_at timestamptz, delivered_at timestamptz, updated_at timestamptz
        )
      ), lane AS MATERIALIZED (
        SELECT organization_id FROM lanes
        WHERE organization_id = ANY (${textArray([...new Set(settlements.map((one) => one.organization_id))])})
        ORDER BY organization_id
        FOR UPDATE
      ), settled AS (
        UPDATE deliveries SET
          status             = outcome.status,
          attempt_count      = outcome.attempt_count,
          last_attempted_at  = outcome.last_attempted_at,
          last_http_status   = outcome.last_http_status,
          last_error_summary = outcome.last_error_summary,
          next_retry_at      = outcome.next_retry_at,
          delivered_at       = outcome.delivered_at,
          due_at             = outcome.next_retry_at,
          updated_at         = outcome.updated_at
        FROM outcome
        WHERE deliveries.id = outcome.id AND deliveries.claims = outcome.claims AND deliveries.status = 'delivering'
          AND (SELECT count(*) FROM lane) > 0
        RETURNING deliveries.id, organization_id
      ), freed AS (
        UPDATE lanes SET in_flight = in_flight - done.n
        FROM (SELECT organization_id, count(*)::int AS n FROM settled GROUP BY organization_id) AS done
        WHERE lanes.organization_id = done.organization_id
      )
      SELECT id FROM settled
    `

    // Planned deliveries announce themselves, and leases that ran out can wait for a sweep: only retries have a date.
    const selectNextRetry = (after: Date) => sql<{ readonly next_retry_at: Date | null }>`
      SELECT min(next_retry_at) AS next_retry_at FROM deliveries WHERE next_retry_at > ${after}
    `

    const claimAfter = Effect.fnUntraced(function* (
      after: string,
      options: Parameters<DeliveryQueue["Service"]["claim"]>[0]
    ) {
      const now = yield* Clock.currentTimeMillis
      return yield* Effect.orDie(
        claimDue(after, options.limit, options.perOrganization, new Date(now), new Date(now + options.leaseMs))
      )
    })

    return {
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        const after = yield* Ref.get(lastServed)
        const claimed = yield* claimAfter(after, options)
        // Nobody is left behind the last one served: begin with the first again.
        if (claimed.length === 0 && after !== "") {
          yield* Ref.set(lastServed, "")
          return yield* claimAfter("", options)
        }
        const last = claimed.reduce((max, { organization_id }) => (organization_id > max ? organization_id : max), "")
        yield* Ref.set(lastServed, last)
        return claimed
      }),

      settle: Effect.fn("DeliveryQueue.settle")(function* (settlements) {
        return (yield* Effect.orDie(updateSettled(settlements))).map(({ id }) => id)
      }),

      nextDueAfter: (milliseconds) =>
        Effect.map(Effect.orDie(selectNextRetry(new Date(milliseconds))), ([row]) => row?.next_retry_at?.getTime())
    }
  })
)
