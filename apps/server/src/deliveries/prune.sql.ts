/** The statement that deletes deleted endpoints past their retention. */
import type { Statement } from "effect/sql"

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
