/**
 * Makes deliveries ready whose time has come: retries that are due, and deliveries whose lease has run out.
 *
 * A lease that runs out gives its place in the bound back. From then on the worker that held it writes nothing: a
 * delivery that is ready is in nobody's hands.
 *
 * @since 0.1.0
 */
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

const atMost = 1000

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

    // One worker does it at a time: the others would only wait for its locks. The lanes come before the deliveries, as
    // everywhere. A delivery that was settled meanwhile is found to be so when it is updated.
    const makeReady = (now: Date) => sql<{
      readonly retries: number
      readonly leases: number
      readonly next: Date | null
      readonly any_ready: boolean
    }>`
      WITH mine AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${lock}) AS locked
      ), elapsed AS MATERIALIZED (
        SELECT endpoint_id, id, organization_id, status
        FROM deliveries
        WHERE NOT ready AND due_at <= ${now} AND (SELECT locked FROM mine)
        ORDER BY due_at LIMIT ${atMost}::int
      ), lane AS MATERIALIZED (
        SELECT organization_id, in_flight FROM lanes
        WHERE organization_id IN (SELECT organization_id FROM elapsed WHERE status = 'delivering')
        ORDER BY organization_id
        FOR UPDATE
      ), released AS (
        UPDATE deliveries SET ready = true
        FROM elapsed
        WHERE deliveries.endpoint_id = elapsed.endpoint_id AND deliveries.id = elapsed.id
          AND NOT deliveries.ready AND deliveries.due_at <= ${now} AND (SELECT count(*) FROM lane) >= 0
        RETURNING deliveries.organization_id, deliveries.endpoint_id, deliveries.status
      ), freed AS (
        UPDATE lanes SET in_flight = jsonb_strip_nulls(lanes.in_flight || left_over.in_flight)
        FROM (
          SELECT organization_id, jsonb_object_agg(
            endpoint_id, nullif(coalesce((lane.in_flight ->> endpoint_id)::int, 0) - n, 0)
          ) AS in_flight
          FROM (
            SELECT organization_id, endpoint_id, count(*)::int AS n FROM released
            WHERE status = 'delivering' GROUP BY organization_id, endpoint_id
          ) AS released
          JOIN lane USING (organization_id)
          GROUP BY organization_id
        ) AS left_over
        WHERE lanes.organization_id = left_over.organization_id
      )
      SELECT (SELECT count(*)::int FROM released WHERE status = 'retrying') AS retries,
             (SELECT count(*)::int FROM released WHERE status = 'delivering') AS leases,
             (SELECT due_at FROM deliveries WHERE NOT ready AND due_at > ${now} ORDER BY due_at LIMIT 1) AS next,
             EXISTS (SELECT FROM released) OR (
               SELECT true FROM deliveries WHERE ready ORDER BY organization_id, endpoint_id, due_at, id LIMIT 1
             ) IS NOT NULL AS any_ready
    `

    const elapse = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const [row] = yield* makeReady(new Date(now))
      const { any_ready: anyReady, leases, next, retries } = row!
      // A full batch may have left some: the next is due at once.
      return { retries, leases, anyReady, next: retries + leases === atMost ? now : next?.getTime() }
    }).pipe(Effect.withSpan("Timers.elapse"))

    return { elapse }
  })
)
