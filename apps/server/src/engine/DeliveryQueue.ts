/**
 * The deliveries that can be sent, as a queue in the `deliveries` table.
 *
 * Organizations take turns. A claim starts behind the endpoint that the claim before ended with, walks the endpoints
 * that have something ready, takes a few of each, and goes round. What it costs depends on how much it takes, not on how
 * much is waiting. The bounds hold over all workers, because the counts of what is in flight stand in the lane of the
 * organization, and whoever changes them locks it; a lane that another worker has locked is passed over.
 *
 * An endpoint may have as many in flight as its organization still has places free, so however many of them hang, there
 * is a place for the next. The only endpoint of an organization has nobody to leave room for.
 *
 * Claims and fencing numbers are as in `InvoiceQueue`.
 *
 * @since 0.1.0
 */
import type { DeliveryState, Ids, InvoiceEvent } from "@govoice/core"
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
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
  readonly invoice_id: Ids.InvoiceId
  /** The fencing number of this claim. */
  readonly claims: number
  /** How many attempts were begun, the one that this claim is for included. */
  readonly attempt_count: number
  /** The time of the attempt before this one. */
  readonly last_attempted_at: Date | null
  /** When it could have been claimed. */
  readonly ready_since: Date
  /** Whether the claim takes over from a worker that let its lease run out. */
  readonly taken_over: boolean
  readonly body: string
  /** The trace that the event belongs to. */
  readonly trace: string | null
  readonly url: string
  readonly endpoint_usable: boolean
  readonly secret: Uint8Array
  readonly next_secret: Uint8Array | null
  readonly next_secret_at: Date | null
}

/**
 * What a claim brought.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Whether another claim may bring something at once. */
  readonly more: boolean
  /** The organizations that something was left behind of because of a bound: worth another claim when they settle. */
  readonly heldBack: ReadonlyArray<Ids.OrganizationId>
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
  readonly endpoint_id: Ids.EndpointId
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
    }) => Effect.Effect<Claim, SqlError.SqlError>
    /** Writes settlements, and returns the deliveries that were still in these hands. */
    readonly settle: (
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
  }
>()("@govoice/server/engine/DeliveryQueue") {}

interface Place {
  readonly organizationId: string
  readonly endpointId: string
}

const start: Place = { organizationId: "", endpointId: "" }

const isBehind = (place: Place, other: Place): boolean =>
  place.organizationId === other.organizationId
    ? place.endpointId >= other.endpointId
    : place.organizationId > other.organizationId

interface Walk {
  readonly visited: number
  readonly last_organization_id: string | null
  readonly last_endpoint_id: string | null
  readonly passed_over: boolean
  readonly cut_short: boolean
  readonly held_back: ReadonlyArray<Ids.OrganizationId>
}

type ClaimRow = Walk & (ClaimedDelivery | { readonly id: null })

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
    const lastServed = yield* Ref.make(start)

    // `turn` walks the endpoints that have something ready, one index look-up each. `lane` locks the lanes of their
    // organizations; a row that is locked is read as it is now, not as it was when the statement began. `candidate` looks
    // at the oldest of each endpoint; `ranked` deals them out one by one, always to the endpoint that has the least in
    // flight; `due` takes the first of every organization, then the second. A delivery that somebody else claimed since
    // the statement began is found not to be ready when it is updated.
    const claimReady = (after: Place, limit: number, perOrganization: number, now: Date, lease: Date) => sql<ClaimRow>`
      WITH RECURSIVE turn (organization_id, endpoint_id, position) AS (
        (
          SELECT organization_id, endpoint_id, 1 FROM deliveries
          WHERE ready AND (organization_id, endpoint_id) > (${after.organizationId}, ${after.endpointId})
          ORDER BY organization_id, endpoint_id LIMIT 1
        )
        UNION ALL
        SELECT next.organization_id, next.endpoint_id, turn.position + 1
        FROM turn CROSS JOIN LATERAL (
          SELECT organization_id, endpoint_id FROM deliveries
          WHERE ready AND (organization_id, endpoint_id) > (turn.organization_id, turn.endpoint_id)
          ORDER BY organization_id, endpoint_id LIMIT 1
        ) AS next
        WHERE turn.position < ${limit}::int
      ), walk AS MATERIALIZED (
        SELECT count(*)::int AS visited, count(DISTINCT organization_id)::int AS organizations,
               (2 * ${limit}::int / greatest(1, count(*)) + 1)::int AS quantum
        FROM turn
      ), lane AS MATERIALIZED (
        SELECT lanes.organization_id, lanes.in_flight
        FROM (SELECT DISTINCT organization_id FROM turn) AS visited JOIN lanes USING (organization_id)
        FOR UPDATE OF lanes SKIP LOCKED
      ), room AS MATERIALIZED (
        SELECT turn.*, lane.in_flight, coalesce((lane.in_flight ->> turn.endpoint_id)::int, 0) AS of_endpoint,
               ${perOrganization}::int - (
                 SELECT coalesce(sum(value::int), 0)::int FROM jsonb_each_text(lane.in_flight)
               ) AS free,
               NOT EXISTS (
                 SELECT FROM webhook_endpoints AS other
                 WHERE other.organization_id = turn.organization_id AND other.deleted_at IS NULL
                   AND other.id <> turn.endpoint_id
               ) AS alone
        FROM turn JOIN lane USING (organization_id)
      ), candidate AS MATERIALIZED (
        SELECT organization_id, endpoint_id, position, free, alone, quantum, oldest.*, of_endpoint + rank - 1 AS ahead
        FROM room CROSS JOIN walk CROSS JOIN LATERAL (
          SELECT *, row_number() OVER (ORDER BY due_at, id)::int AS rank
          FROM (
            SELECT id, due_at, status = 'delivering' AS taken_over, last_attempted_at FROM deliveries
            WHERE ready AND organization_id = room.organization_id AND endpoint_id = room.endpoint_id
            ORDER BY organization_id, endpoint_id, due_at, id
            LIMIT greatest(0, least(room.free, quantum))
          ) AS oldest
        ) AS oldest
      ), ranked AS MATERIALIZED (
        SELECT dealt.*, place <= free AND (alone OR ahead < greatest(1, free - (place - 1))) AS allowed
        FROM (
          SELECT candidate.*,
                 row_number() OVER (PARTITION BY organization_id ORDER BY ahead, position)::int AS place
          FROM candidate
        ) AS dealt
      ), due AS MATERIALIZED (
        SELECT id, endpoint_id, due_at, taken_over, last_attempted_at FROM ranked
        WHERE allowed ORDER BY place, position LIMIT ${limit}::int
      ), claimed AS (
        UPDATE deliveries SET
          status            = 'delivering',
          ready             = false,
          claims            = claims + 1,
          attempt_count     = attempt_count + 1,
          last_attempted_at = ${now},
          next_retry_at     = NULL,
          due_at            = ${lease},
          updated_at        = ${now}
        FROM due
        WHERE deliveries.endpoint_id = due.endpoint_id AND deliveries.id = due.id AND deliveries.ready
        RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, event_id, event_type, claims,
                  attempt_count, due.last_attempted_at, due.taken_over, due.due_at AS ready_since
      ), counted AS (
        UPDATE lanes SET in_flight = lanes.in_flight || added.in_flight
        FROM (
          SELECT organization_id, jsonb_object_agg(endpoint_id, of_endpoint + n) AS in_flight
          FROM (SELECT endpoint_id, count(*)::int AS n FROM claimed GROUP BY endpoint_id) AS claimed
          JOIN room USING (endpoint_id)
          GROUP BY organization_id
        ) AS added
        WHERE lanes.organization_id = added.organization_id
      )
      SELECT claimed.*, events.invoice_id, events.body, events.trace, url, secret, next_secret, next_secret_at,
             enabled AND deleted_at IS NULL AS endpoint_usable,
             walk.visited, last.organization_id AS last_organization_id, last.endpoint_id AS last_endpoint_id,
             (SELECT count(*) FROM lane) < walk.organizations AS passed_over,
             EXISTS (SELECT FROM ranked WHERE allowed AND rank = quantum AND rank < free)
               OR (SELECT count(*) FROM due) = ${limit}::int AS cut_short,
             ARRAY(
               SELECT organization_id FROM room WHERE free <= 0
               UNION SELECT organization_id FROM ranked WHERE NOT allowed OR place = free
             ) AS held_back
      FROM walk
      LEFT JOIN turn AS last ON last.position = walk.visited
      LEFT JOIN (
        claimed
        JOIN events ON events.id = event_id
        JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id
      ) ON true
    `

    // The lanes are locked first and in order, so that two settlements at once wait instead of blocking each other.
    const updateSettled = (settlements: ReadonlyArray<Settlement>) => sql<{ readonly id: Ids.DeliveryId }>`
      WITH outcome AS MATERIALIZED (
        SELECT * FROM jsonb_to_recordset(${PgTypes.jsonb(settlements)}) AS outcome (
          id text, endpoint_id text, claims int, status text, attempt_count int, last_attempted_at timestamptz,
          last_http_status smallint, last_error_summary text, next_retry_at timestamptz, delivered_at timestamptz,
          updated_at timestamptz
        )
      ), lane AS MATERIALIZED (
        SELECT organization_id, in_flight FROM lanes
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
        WHERE deliveries.endpoint_id = outcome.endpoint_id AND deliveries.id = outcome.id
          AND deliveries.claims = outcome.claims AND deliveries.status = 'delivering' AND NOT deliveries.ready
          AND (SELECT count(*) FROM lane) > 0
        RETURNING deliveries.id, organization_id, deliveries.endpoint_id
      ), freed AS (
        UPDATE lanes SET in_flight = jsonb_strip_nulls(lanes.in_flight || left_over.in_flight)
        FROM (
          SELECT organization_id, jsonb_object_agg(
            endpoint_id, nullif(coalesce((lane.in_flight ->> endpoint_id)::int, 0) - n, 0)
          ) AS in_flight
          FROM (
            SELECT organization_id, endpoint_id, count(*)::int AS n FROM settled GROUP BY organization_id, endpoint_id
          ) AS settled
          JOIN lane USING (organization_id)
          GROUP BY organization_id
        ) AS left_over
        WHERE lanes.organization_id = left_over.organization_id
      )
      SELECT id FROM settled
    `

    const claimAfter = Effect.fnUntraced(function* (
      after: Place,
      { leaseMs, limit, perOrganization }: Parameters<DeliveryQueue["Service"]["claim"]>[0]
    ) {
      const now = yield* Clock.currentTimeMillis
      const rows = yield* claimReady(after, limit, perOrganization, new Date(now), new Date(now + leaseMs))
      // There is always a row: the walk, with nothing claimed beside it.
      const walk = rows[0]!
      const ended = walk.visited < limit
      const next: Place = ended
        ? start
        : { organizationId: walk.last_organization_id ?? "", endpointId: walk.last_endpoint_id ?? "" }
      yield* Ref.set(lastServed, next)
      return { walk, ended, next, deliveries: rows.filter((row) => row.id !== null) }
    })

    return {
      // Goes on until it has something or has been all the way round.
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        const first = yield* Ref.get(lastServed)
        let place = first
        let turnedOver = first === start
        let passedOver = false
        const heldBack = new Set<Ids.OrganizationId>()
        while (true) {
          const { deliveries, ended, next, walk } = yield* claimAfter(place, options)
          passedOver ||= walk.passed_over
          for (const id of walk.held_back) heldBack.add(id)
          if (deliveries.length > 0) {
            const more = passedOver || walk.cut_short || !ended || !turnedOver
            return { deliveries, more, heldBack: [...heldBack] }
          }
          // All the way round: to the end where it began at the start, else past the place where it began.
          const round = ended ? turnedOver : turnedOver && first !== start && isBehind(next, first)
          if (round) return { deliveries, more: passedOver, heldBack: [...heldBack] }
          turnedOver ||= ended
          place = next
        }
      }),

      settle: Effect.fn("DeliveryQueue.settle")(function* (settlements) {
        return (yield* updateSettled(settlements)).map(({ id }) => id)
      })
    }
  })
)
