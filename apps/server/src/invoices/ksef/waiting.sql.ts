/** Which live invoices wait to be sent, and of which organizations. */
import type { Statement } from "effect/sql"

/** Whether an invoice waits, as in the condition of the index by organization and time. */
export const waits = (sql: Statement.Constructor): Statement.Fragment =>
  sql`mode = 'live' AND status IN ('queued', 'retrying')`

/**
 * The CTE `waiting` of a `WITH RECURSIVE`: the organizations of such invoices, by one lookup in the index each, with when the oldest of
 * each is due. They are all, or the first `limit`.
 */
export const waitingOrganizations = (sql: Statement.Constructor, limit?: number): Statement.Fragment => sql`
  waiting (organization_id, due_at, position) AS (
    (
      SELECT organization_id, due_at, 1 FROM invoices WHERE ${waits(sql)}
      ORDER BY organization_id, due_at, id LIMIT 1
    )
    UNION ALL
    SELECT next.*, position + 1 FROM waiting CROSS JOIN LATERAL (
      SELECT organization_id, due_at FROM invoices WHERE ${waits(sql)} AND organization_id > waiting.organization_id
      ORDER BY organization_id, due_at, id LIMIT 1
    ) AS next
    WHERE ${limit === undefined ? sql`true` : sql`position < ${limit}::int`}
  )
`
