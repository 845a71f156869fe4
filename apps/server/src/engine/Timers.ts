/**
 * Makes deliveries ready whose time has come: retries that are due, and deliveries whose lease has run out.
 *
 * A lease that runs out gives its place in the bound back. From then on the worker that held it writes nothing: what has
 * no lease is in nobody's hands. Leases stand in the deliveries, where no index knows them; a lane says when to look for
 * those that ran out, and its counts say how many there are to find.
 *
 * @since 0.1.0
 */
import { PgTypes } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/**
 * What a look at the clock brought. Times are in milliseconds since the epoch.
 *
 * @category models
 * @since 0.1.0
 */
export interface Elapsed {
  readonly retries: number
  readonly leases: number
  /** When the next time comes; absent when nothing waits for one. */
  readonly next: number | undefined
  /** Whether there is anything to claim. */
  readonly anyReady: boolean
}

/**
 * Service that makes deliveries ready when their time has come.
 *
 * @category services
 * @since 0.1.0
 */
export class Timers extends Context.Service<Timers, { readonly elapse: Effect.Effect<Elapsed, SqlError.SqlError> }>()(
  "@govoice/server/engine/Timers"
) {}

const retriesAtMost = 1000
const lanesAtMost = 200

const soonMs = 1000

// Any number will do, as long as every process takes the same.
const lock = 7_064_824

/**
 * Layer that provides `Timers` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Timers, never, SqlClient.SqlClient> = Layer.effect(
  Timers,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // One worker does it at a time: the others would only wait for its locks. `watched` and `held` are as the statement
    // finds them, so there are as many held as are counted; then the lanes are locked, before the deliveries, as
    // everywhere. A delivery that was settled meanwhile is found to be so when it is updated. Where the counts changed
    // meanwhile, there may be a lease that was not seen: the lane is looked at again soon. Where as much was claimed as was
    // let go of, they did not change; but what was claimed then runs out last.
    const makeReady = (now: number) => sql<{
      readonly retries: number
      readonly leases: number
      readonly full: boolean
      readonly next: Date | null
      readonly any_ready: boolean
    }>`
      WITH mine AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${lock}) AS locked
      ), retried AS (
        UPDATE deliveries SET ready = true
        FROM (
          SELECT endpoint_id, id FROM deliveries
          WHERE NOT ready AND due_at <= ${PgTypes.timestamptz(now)} AND (SELECT locked FROM mine)
          ORDER BY due_at LIMIT ${retriesAtMost}::int
        ) AS elapsed
        WHERE deliveries.endpoint_id = elapsed.endpoint_id AND deliveries.id = elapsed.id
          AND NOT deliveries.ready AND deliveries.due_at <= ${PgTypes.timestamptz(now)}
        RETURNING 1
      ), watched AS MATERIALIZED (
        SELECT organization_id, in_flight FROM lanes
        WHERE look_at <= ${PgTypes.timestamptz(now)} AND (SELECT locked FROM mine)
        ORDER BY look_at LIMIT ${lanesAtMost}::int
      ), held AS MATERIALIZED (
        SELECT held.* FROM watched CROSS JOIN LATERAL jsonb_each_text(in_flight) AS of_endpoint (endpoint_id, n)
        CROSS JOIN LATERAL (
          SELECT ctid AS place_on_disk, organization_id, leased_until FROM deliveries
          WHERE ready AND leased_until IS NOT NULL AND endpoint_id = of_endpoint.endpoint_id
          ORDER BY endpoint_id, due_at LIMIT n::int
        ) AS held
      ), lane AS MATERIALIZED (
        SELECT FROM lanes WHERE organization_id IN (SELECT organization_id FROM watched)
        ORDER BY organization_id
        FOR UPDATE
      ), released AS (
        UPDATE deliveries SET leased_until = NULL
        FROM held
        WHERE deliveries.ctid = place_on_disk AND deliveries.leased_until <= ${PgTypes.timestamptz(now)}
          AND held.leased_until <= ${PgTypes.timestamptz(now)} AND (SELECT count(*) FROM lane) > 0
        RETURNING deliveries.organization_id, deliveries.endpoint_id
      ), looked AS MATERIALIZED (
        SELECT organization_id, in_flight, endpoints, counts, (
          SELECT date_trunc('second', min(leased_until) + interval '999 milliseconds') FROM held
          WHERE held.organization_id = watched.organization_id AND leased_until > ${PgTypes.timestamptz(now)}
        ) AS next
        FROM watched LEFT JOIN (
          SELECT organization_id, array_agg(endpoint_id) AS endpoints, array_agg(n) AS counts
          FROM (
            SELECT organization_id, endpoint_id, count(*)::int AS n FROM released GROUP BY organization_id, endpoint_id
          ) AS released
          GROUP BY organization_id
        ) AS released USING (organization_id)
      ), moved_on AS (
        UPDATE lanes SET (in_flight, look_at) = (
          SELECT left_over, CASE
            WHEN left_over = '{}' THEN NULL
            WHEN lanes.in_flight = looked.in_flight THEN coalesce(next, ${PgTypes.timestamptz(now + soonMs)})
            ELSE least(next, ${PgTypes.timestamptz(now + soonMs)})
          END
          FROM (
            SELECT jsonb_strip_nulls(lanes.in_flight || coalesce((
              SELECT jsonb_object_agg(endpoint_id, nullif((lanes.in_flight ->> endpoint_id)::int - n, 0))
              FROM unnest(endpoints, counts) AS of_endpoint (endpoint_id, n)
            ), '{}')) AS left_over
          ) AS freed
        )
        FROM looked
        WHERE lanes.organization_id = looked.organization_id
        RETURNING look_at
      )
      SELECT (SELECT count(*)::int FROM retried) AS retries,
             (SELECT count(*)::int FROM released) AS leases,
             (SELECT count(*) FROM retried) = ${retriesAtMost}::int
               OR (SELECT count(*) FROM watched) = ${lanesAtMost}::int AS full,
             least(
               (SELECT due_at FROM deliveries WHERE NOT ready AND due_at > ${PgTypes.timestamptz(now)} ORDER BY due_at LIMIT 1),
               (SELECT look_at FROM lanes WHERE look_at > ${PgTypes.timestamptz(now)} ORDER BY look_at LIMIT 1),
               (SELECT min(look_at) FROM moved_on)
             ) AS next,
             EXISTS (SELECT FROM retried) OR EXISTS (SELECT FROM released) OR (
               SELECT true FROM deliveries WHERE ready AND leased_until IS NULL ORDER BY endpoint_id, due_at LIMIT 1
             ) IS NOT NULL AS any_ready
    `

    const elapse = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const [row] = yield* makeReady(now)
      const { any_ready: anyReady, full, leases, next, retries } = row!
      // A full batch may have left some: the next is due at once.
      return { retries, leases, anyReady, next: full ? now : next?.getTime() }
    }).pipe(Effect.withSpan("Timers.elapse"))

    return { elapse }
  })
)
