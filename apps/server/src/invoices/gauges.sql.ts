/** The part of the statement of the queue gauges that reads invoices. */
import type { Statement } from "effect/sql"

/** Counts the unfinished test invoices up to a limit, and finds when the oldest is due. */
export const invoicesQueue = (sql: Statement.Constructor, exactUpTo: number): Statement.Fragment => sql`
  SELECT 'invoices', 'invoices_due_at_idx', (
    SELECT count(*) FROM (
      SELECT FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at LIMIT ${exactUpTo}::int
    ) AS entry
  ), (SELECT due_at FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
`
