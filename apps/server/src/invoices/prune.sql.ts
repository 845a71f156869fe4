/** The statement that deletes idempotency records past their retention. */
import type { Statement } from "effect/sql"

/** The records of `deleteIdempotencyRecords`: those created from `after` on and before `before`, at most `limit`. */
export interface ExpiredRecords {
  readonly after: Date
  readonly before: Date
  readonly limit: number
}

/**
 * Deletes idempotency records of final invoices. Returns how many records it read, when the last was created, and how many it
 * deleted.
 */
export const deleteIdempotencyRecords = (
  sql: Statement.Constructor,
  { after, before, limit }: ExpiredRecords
): Statement.Statement<{ readonly seen: number; readonly last: Date | null; readonly removed: number }> => sql`
  WITH old AS MATERIALIZED (
    SELECT organization_id, mode, key, invoice_id, created_at FROM idempotency_records
    WHERE created_at >= ${after} AND created_at < ${before} ORDER BY created_at LIMIT ${limit}::int
  ), record AS (
    DELETE FROM idempotency_records
    USING old JOIN invoices ON invoices.id = old.invoice_id
    WHERE idempotency_records.organization_id = old.organization_id AND idempotency_records.mode = old.mode
      AND idempotency_records.key = old.key AND invoices.due_at IS NULL
    RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM old) AS seen, (SELECT max(created_at) FROM old) AS last,
         (SELECT count(*)::int FROM record) AS removed
`
