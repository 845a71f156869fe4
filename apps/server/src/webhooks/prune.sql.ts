/** The statements that delete events with their deliveries, and deleted endpoints, past their retention. */
import type { Statement } from "effect/sql"

/** The events of `deleteEvents`: those with identifiers between `after` and `before`, at most `limit`. */
export interface ExpiredEvents {
  readonly after: string
  readonly before: string
  /** An event is kept while a delivery of it is not complete, or was updated at this time or later. */
  readonly finishedBefore: Date
  readonly limit: number
}

/**
 * Deletes events with their deliveries. Events with a delivery that a worker is completing are locked, and left for the next
 * run. Returns how many events it read, the identifier of the last, and how many it deleted.
 */
export const deleteEvents = (
  sql: Statement.Constructor,
  { after, before, finishedBefore, limit }: ExpiredEvents
): Statement.Statement<{ readonly seen: number; readonly last: string | null; readonly removed: number }> => sql`
  WITH old AS MATERIALIZED (
    SELECT id FROM events WHERE id > ${after} AND id < ${before} ORDER BY id LIMIT ${limit}::int
  ), finished AS MATERIALIZED (
    SELECT id FROM events
    WHERE id IN (SELECT id FROM old) AND NOT EXISTS (
      SELECT FROM deliveries
      WHERE event_id = events.id AND (due_at IS NOT NULL OR updated_at >= ${finishedBefore})
    )
    FOR UPDATE SKIP LOCKED
  ), delivery AS (
    DELETE FROM deliveries WHERE event_id IN (SELECT id FROM finished) AND due_at IS NULL
  ), event AS (
    DELETE FROM events WHERE id IN (SELECT id FROM finished) RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM old) AS seen, (SELECT max(id) FROM old) AS last,
         (SELECT count(*)::int FROM event) AS removed
`

/** A place among the deleted endpoints, which are read by the time of their deletion. */
export interface EndpointCursor {
  readonly at: Date
  readonly id: string
}

/** The endpoints of `deleteEndpoints`: those deleted between `after` and `before`, at most `limit`. */
export interface ExpiredEndpoints {
  readonly after: EndpointCursor
  readonly before: Date
  readonly limit: number
}

/**
 * Deletes endpoints that their owner deleted and that have no deliveries. Returns how many it read, the last of them, and how
 * many it deleted.
 *
 * The order makes the search for a delivery one probe of the primary key, even where the planner expects a delivery in the
 * first rows of the table.
 */
export const deleteEndpoints = (
  sql: Statement.Constructor,
  { after, before, limit }: ExpiredEndpoints
): Statement.Statement<{
  readonly seen: number
  readonly last: string | null
  readonly last_at: Date | null
  readonly removed: number
}> => sql`
  WITH deleted AS MATERIALIZED (
    SELECT id, deleted_at FROM webhook_endpoints
    WHERE (deleted_at, id) > (${after.at}, ${after.id}) AND deleted_at < ${before}
    ORDER BY deleted_at, id LIMIT ${limit}::int
  ), last AS (
    SELECT id, deleted_at FROM deleted ORDER BY deleted_at DESC, id DESC LIMIT 1
  ), unused AS MATERIALIZED (
    SELECT id FROM webhook_endpoints
    WHERE id = ANY (ARRAY(SELECT id FROM deleted)) AND (
      SELECT id FROM deliveries WHERE endpoint_id = webhook_endpoints.id ORDER BY id LIMIT 1
    ) IS NULL
    FOR UPDATE SKIP LOCKED
  ), endpoint AS (
    DELETE FROM webhook_endpoints WHERE id = ANY (ARRAY(SELECT id FROM unused)) RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM deleted) AS seen, (SELECT id FROM last) AS last,
         (SELECT deleted_at FROM last) AS last_at, (SELECT count(*)::int FROM endpoint) AS removed
`
