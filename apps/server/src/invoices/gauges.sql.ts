/** The part of the statement of the queue gauges that reads invoices. */
import type { Cte } from "../database/Cte.ts"

/** Counts the unfinished test invoices up to a limit, and returns the time at which the oldest is due. */
export const invoicesQueue: Cte<{ readonly exactUpTo: number }> = {
  name: "invoices_queue",
  does: "Counts the unfinished test invoices up to a limit, and finds the oldest.",
  reads: ["invoices"],
  returns: ["queue", "index", "n", "oldest"],
  query: (sql, { exactUpTo }) => sql`
    SELECT 'invoices', 'invoices_due_at_idx', (
      SELECT count(*) FROM (
        SELECT FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at LIMIT ${exactUpTo}::int
      ) AS entry
    ), (SELECT due_at FROM invoices WHERE mode = 'test' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1)
  `
}
