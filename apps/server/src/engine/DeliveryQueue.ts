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
import { Clock, Context, Effect, Layer, Result } from "effect"
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
  /** Of the settlements that came along, the deliveries that were still in these hands. */
  readonly settled: ReadonlyArray<Ids.DeliveryId>
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
  readonly event_id: Ids.EventId
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
 * How much to claim. Where nothing is said, `settlements` are none and `resume` is false.
 *
 * **Details**
 *
 * Until vacuum has been there, what was settled leaves entries behind at the front of the index, and a claim passes them at
 * every endpoint. One that resumes begins behind them, so a backlog drains as fast at its end as at its beginning. It does
 * not see what is due earlier and became ready since, such as a retry, or what a lost worker held.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClaimOptions {
  readonly limit: number
  readonly perOrganization: number
  readonly leaseMs: number
  /** Whether to begin at each endpoint with what the claim before saw of it. */
  readonly resume?: boolean
  readonly settlements?: ReadonlyArray<Settlement>
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
    /** Writes settlements, and then claims: their places are free already. All of it holds, or nothing of it. */
    readonly claim: (options: ClaimOptions) => Effect.Effect<Claim, SqlError.SqlError>
    /** Writes settlements, and returns the deliveries that were still in these hands. */
    readonly settle: (
      settlements: ReadonlyArray<Settlement>
    ) => Effect.Effect<ReadonlyArray<Ids.DeliveryId>, SqlError.SqlError>
  }
>()("@govoice/server/engine/DeliveryQueue") {}

// Before the first endpoint, and behind the last.
const start = ""
const end = "~"

// An endpoint of which more was seen than was taken, and since when the oldest of it was due.
type Mark = readonly [organization: string, endpoint: string, since: string]

// They are sorted and sent with every claim.
const marksAtMost = 1000

interface Walk {
  readonly visited: number
  readonly last: string | null
  /** Whether somebody else had locked what it came to, or claimed it since the statement began. */
  readonly passedOver: boolean
  readonly cutShort: boolean
  readonly heldBack: ReadonlyArray<Ids.OrganizationId>
  readonly left: ReadonlyArray<Mark>
  readonly settled: ReadonlyArray<Ids.DeliveryId>
}

// What the walk found has a row to itself.
type ClaimRow = (ClaimedDelivery & { readonly walk: null }) | { readonly walk: Walk }

// A field of many rows as one parameter.
const column = <A>(type: keyof typeof PgTypes.OID, rows: ReadonlyArray<A>, field: (row: A) => unknown) =>
  Result.getOrThrow(PgTypes.array(rows.map(field), PgTypes.OID[type]))

const ms = (at: string | null) => (at === null ? null : Date.parse(at))

// Leases that run out within a second are looked at together.
const lookAt = (leasedUntil: number): number => Math.ceil(leasedUntil / 1000) * 1000

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
    let lastServed = start
    let marks: ReadonlyArray<Mark> = []

    // Everything that a worker has to say to the database, in one statement and one commit: it lets go of `settlements`,
    // and claims up to `limit`, which may be none.
    //
    // `settling` locks the lanes of what is let go of, in order, so that two workers wait for each other instead of blocking
    // each other. Only then does the claim lock others, and waits for none of them. What became `freed` counts as free.
    //
    // `turn` walks the endpoints that have something to claim, one index look-up each. Where there is a mark it looks only
    // between it and the endpoint before, and takes the mark for what it stands for. `lane` locks the lanes of their
    // organizations; a row that is locked is read as it is now, not as it was when the statement began. `candidate` looks
    // at the oldest of each endpoint; `dealt` deals them out one by one, always to the endpoint that has the least in
    // flight; `due` takes the first of every organization, then the second. What was settled lately leaves entries behind
    // in the index, which only the walk has to pass: it says where the oldest is. A delivery that somebody else claimed since
    // the statement began is found to be held when it is updated. One candidate more than an organization has places free
    // says whether anything is left.
    //
    // Rows are passed on with what later steps need of them, down to where they lie: every join would be a loop. A lane of
    // which as much was claimed as was let go of stays as it is.
    //
    // `place <= limit` tells the planner that few are due. Without it, a plan that was made while the table was empty finds
    // the rows to claim by reading all that are ready.
    const settleAndClaim = (
      settlements: ReadonlyArray<Settlement>,
      after: string,
      marks: ReadonlyArray<Mark>,
      limit: number,
      perOrganization: number,
      now: number,
      leaseMs: number
    ) => {
      const markedOrganizations = textArray(marks.map(([organization]) => organization))
      const markedEndpoints = textArray(marks.map(([, endpoint]) => endpoint))
      const markedSince = textArray(marks.map(([, , since]) => since))
      return sql<ClaimRow>`
      WITH RECURSIVE outcome AS MATERIALIZED (
        SELECT * FROM unnest(
          ${column("text", settlements, ({ id }) => id)},
          ${column("text", settlements, ({ endpoint_id }) => endpoint_id)},
          ${column("int4", settlements, ({ claims }) => claims)},
          ${column("text", settlements, ({ status }) => status)},
          ${column("int4", settlements, ({ attempt_count }) => attempt_count)},
          ${column("timestamptz", settlements, ({ last_attempted_at }) => ms(last_attempted_at))},
          ${column("int2", settlements, ({ last_http_status }) => last_http_status)},
          ${column("text", settlements, ({ last_error_summary }) => last_error_summary)},
          ${column("timestamptz", settlements, ({ next_retry_at }) => ms(next_retry_at))},
          ${column("timestamptz", settlements, ({ updated_at }) => ms(updated_at))}
        ) AS outcome (
          id, endpoint_id, claims, status, attempt_count, last_attempted_at, last_http_status, last_error_summary,
          next_retry_at, updated_at
        )
      ), settling AS MATERIALIZED (
        SELECT FROM lanes
        WHERE organization_id = ANY (${textArray([...new Set(settlements.map((one) => one.organization_id))])})
        ORDER BY organization_id
        FOR UPDATE
      ), settled AS (
        UPDATE deliveries SET
          status             = outcome.status,
          trouble            = CASE WHEN outcome.status IN ('retrying', 'failed', 'endpoint_disabled') THEN outcome.status END,
          ready              = false,
          leased_until       = NULL,
          attempt_count      = outcome.attempt_count,
          last_attempted_at  = outcome.last_attempted_at,
          last_http_status   = outcome.last_http_status,
          last_error_summary = outcome.last_error_summary,
          next_retry_at      = outcome.next_retry_at,
          delivered_at       = CASE outcome.status WHEN 'succeeded' THEN outcome.updated_at END,
          due_at             = outcome.next_retry_at,
          updated_at         = outcome.updated_at
        FROM outcome
        WHERE deliveries.endpoint_id = outcome.endpoint_id AND deliveries.id = outcome.id
          AND deliveries.claims = outcome.claims AND deliveries.leased_until IS NOT NULL
          AND (SELECT count(*) FROM settling) > 0
        RETURNING deliveries.id, organization_id, deliveries.endpoint_id
      ), freed AS MATERIALIZED (
        SELECT coalesce(jsonb_object_agg(endpoint_id, n), '{}') AS by_endpoint
        FROM (SELECT endpoint_id, count(*) AS n FROM settled GROUP BY endpoint_id) AS settled
      ), turn (organization_id, endpoint_id, since, mark, position) AS (
        SELECT NULL::text COLLATE "C", ${after}::text COLLATE "C", NULL::timestamptz, 1, 0
        UNION ALL
        SELECT next.*, position + 1
        FROM turn CROSS JOIN LATERAL (
          (
            SELECT organization_id, endpoint_id, due_at, turn.mark FROM deliveries
            WHERE ready AND leased_until IS NULL AND endpoint_id > turn.endpoint_id
              AND endpoint_id < coalesce((${markedEndpoints})[mark], ${end})
            ORDER BY endpoint_id, due_at LIMIT 1
          )
          UNION ALL
          SELECT (${markedOrganizations})[mark], (${markedEndpoints})[mark], (${markedSince})[mark]::timestamptz, mark + 1
          WHERE mark <= ${marks.length}::int
          LIMIT 1
        ) AS next
        WHERE position < ${limit}::int
      ), visited AS MATERIALIZED (
        SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(since) AS since,
               array_agg(position) AS positions
        FROM turn WHERE position > 0 GROUP BY organization_id
      ), walk AS MATERIALIZED (
        SELECT max(position) AS visited, 2 * ${limit}::int / greatest(1, max(position)) + 2 AS quantum FROM turn
      ), lane AS MATERIALIZED (
        SELECT lanes.organization_id, lanes.in_flight, endpoints, since, positions
        FROM visited JOIN lanes USING (organization_id)
        WHERE (SELECT by_endpoint FROM freed) IS NOT NULL
        FOR UPDATE OF lanes SKIP LOCKED
      ), room AS MATERIALIZED (
        SELECT organization_id, endpoint_id, visited.since, position,
               coalesce((in_flight ->> endpoint_id)::int, 0) - coalesce((by_endpoint ->> endpoint_id)::int, 0) AS of_endpoint,
               ${perOrganization}::int - (
                 SELECT coalesce(sum(n::int - coalesce((by_endpoint ->> of_endpoint)::int, 0)), 0)::int
                 FROM jsonb_each_text(in_flight) AS counted (of_endpoint, n)
               ) AS free
        FROM freed CROSS JOIN lane
        CROSS JOIN LATERAL unnest(endpoints, lane.since, positions) AS visited (endpoint_id, since, position)
      ), candidate AS MATERIALIZED (
        SELECT organization_id, endpoint_id, position, of_endpoint, free, quantum, oldest.*
        FROM room CROSS JOIN walk CROSS JOIN LATERAL (
          SELECT ctid AS place_on_disk, due_at, status = 'delivering' AS taken_over, last_attempted_at
          FROM deliveries
          WHERE ready AND leased_until IS NULL AND endpoint_id = room.endpoint_id AND due_at >= since
          ORDER BY endpoint_id, due_at
          LIMIT CASE WHEN room.free > 0 THEN least(room.free + 1, quantum) ELSE 0 END
        ) AS oldest
      ), ranked AS (
        SELECT *, of_endpoint + rank - 1 AS ahead
        FROM (
          SELECT *, row_number() OVER oldest_first::int AS rank, first_value(due_at) OVER oldest_first AS oldest
          FROM candidate WINDOW oldest_first AS (PARTITION BY position ORDER BY due_at)
        ) AS candidate
      ), dealt AS MATERIALIZED (
        SELECT *, place <= free AND (
                 ahead < greatest(1, free - (place - 1)) OR NOT EXISTS (
                   SELECT FROM webhook_endpoints AS other
                   WHERE other.organization_id = ranked.organization_id AND other.deleted_at IS NULL
                     AND other.id <> ranked.endpoint_id
                 )
               ) AS allowed
        FROM (
          SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY ahead, position)::int AS place FROM ranked
        ) AS ranked
      ), due AS MATERIALIZED (
        SELECT place_on_disk, due_at, taken_over, last_attempted_at FROM dealt
        WHERE allowed AND place <= ${limit}::int ORDER BY place, position LIMIT ${limit}::int
      ), claimed AS (
        UPDATE deliveries SET
          status            = 'delivering',
          trouble           = NULL,
          leased_until      = ${PgTypes.timestamptz(now + leaseMs)},
          claims            = claims + 1,
          attempt_count     = attempt_count + 1,
          last_attempted_at = ${PgTypes.timestamptz(now)},
          next_retry_at     = NULL,
          updated_at        = ${PgTypes.timestamptz(now)}
        FROM due
        WHERE deliveries.ctid = place_on_disk AND deliveries.ready AND deliveries.leased_until IS NULL
        RETURNING deliveries.id, deliveries.organization_id, deliveries.endpoint_id, event_id, event_type, claims,
                  attempt_count, due.last_attempted_at, due.taken_over, due.due_at AS ready_since
      ), counted AS (
        UPDATE lanes SET
          in_flight = jsonb_strip_nulls(lanes.in_flight || (
            SELECT jsonb_object_agg(endpoint_id, nullif(coalesce((lanes.in_flight ->> endpoint_id)::int, 0) + n, 0))
            FROM unnest(endpoints, counts) AS of_endpoint (endpoint_id, n)
          )),
          look_at   = CASE
            WHEN ${limit}::int > 0 THEN least(lanes.look_at, ${PgTypes.timestamptz(lookAt(now + leaseMs))})
            ELSE lanes.look_at
          END
        FROM (
          SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(n) AS counts
          FROM (
            SELECT organization_id, endpoint_id, sum(n)::int AS n
            FROM (
              SELECT organization_id, endpoint_id, 1 AS n FROM claimed
              UNION ALL
              SELECT organization_id, endpoint_id, -1 FROM settled
            ) AS change
            GROUP BY organization_id, endpoint_id
            HAVING sum(n) <> 0
          ) AS change
          GROUP BY organization_id
        ) AS change
        WHERE lanes.organization_id = change.organization_id
      )
      SELECT claimed.id, claimed.organization_id, endpoint_id, event_id, event_type, claims, attempt_count,
             last_attempted_at, taken_over, ready_since, events.invoice_id, events.body, events.trace, url, secret,
             next_secret, next_secret_at, enabled AND deleted_at IS NULL AS endpoint_usable, summary.walk
      FROM (
        SELECT json_build_object(
          'visited', walk.visited,
          'last', (SELECT endpoint_id FROM turn WHERE position = walk.visited),
          'passedOver', (SELECT count(*) FROM lane) < (SELECT count(*) FROM visited)
            OR (SELECT count(*) FROM claimed) < (SELECT count(*) FROM due),
          'cutShort', EXISTS (SELECT FROM dealt WHERE allowed AND rank = quantum)
            OR (SELECT count(*) FROM due) = ${limit}::int,
          'heldBack', ARRAY(
            SELECT organization_id FROM room WHERE free <= 0
            UNION SELECT organization_id FROM dealt WHERE NOT allowed
          ),
          'left', ARRAY(
            SELECT json_build_array(organization_id, endpoint_id, since) FROM room WHERE free <= 0
            UNION ALL
            SELECT json_build_array(organization_id, endpoint_id, oldest) FROM dealt WHERE rank = least(free + 1, quantum)
          ),
          'settled', ARRAY(SELECT id FROM settled)
        ) AS walk
        FROM walk
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
      { leaseMs, limit, perOrganization, settlements = [] }: ClaimOptions
    ) {
      const now = yield* Clock.currentTimeMillis
      const ahead = marks.filter(([, endpoint]) => endpoint > after)
      const rows = yield* settleAndClaim(settlements, after, ahead, limit, perOrganization, now, leaseMs)
      const deliveries: Array<ClaimedDelivery> = []
      let walk: Walk = {
        visited: 0,
        last: null,
        passedOver: false,
        cutShort: false,
        heldBack: [],
        left: [],
        settled: []
      }
      for (const row of rows) {
        if (row.walk === null) deliveries.push(row)
        else walk = row.walk
      }
      const ended = walk.visited < limit
      const next = ended ? start : (walk.last ?? start)
      marks = [
        ...marks.filter(([, endpoint]) => endpoint <= after || (!ended && endpoint > next)),
        ...walk.left
      ].toSorted(([, left], [, right]) => (left < right ? -1 : 1))
      lastServed = next
      return { walk, ended, next, deliveries }
    })

    return {
      // Goes on until it has something or has been all the way round.
      claim: Effect.fn("DeliveryQueue.claim")(function* (options) {
        const first = lastServed
        if (options.resume !== true || marks.length > marksAtMost) marks = []
        let place = first
        let turnedOver = first === start
        let passedOver = false
        let settled: ReadonlyArray<Ids.DeliveryId> | undefined
        const heldBack = new Set<Ids.OrganizationId>()
        while (true) {
          const { deliveries, ended, next, walk } = yield* claimAfter(
            place,
            settled === undefined ? options : { ...options, settlements: [] }
          )
          settled ??= walk.settled
          passedOver ||= walk.passedOver
          for (const id of walk.heldBack) heldBack.add(id)
          if (deliveries.length > 0) {
            const more = passedOver || walk.cutShort || !ended || !turnedOver
            return { deliveries, more, heldBack: [...heldBack], settled }
          }
          // All the way round: to the end where it began at the start, else past the place where it began.
          const round = ended ? turnedOver : turnedOver && first !== start && next >= first
          if (round) return { deliveries, more: passedOver, heldBack: [...heldBack], settled }
          turnedOver ||= ended
          place = next
        }
      }),

      settle: Effect.fn("DeliveryQueue.settle")(function* (settlements) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* settleAndClaim(settlements, start, [], 0, 0, now, 0)
        return row?.walk?.settled ?? []
      })
    }
  })
)
