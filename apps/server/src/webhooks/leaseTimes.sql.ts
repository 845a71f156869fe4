/** Times of leases, as expressions of SQL. `rescueExpiredLeases.sql.ts` rescues deliveries whose lease has expired. */
import type { Statement } from "effect/sql"

/** The parameters of a statement that leases deliveries. */
export interface LeaseParameters {
  readonly now: Statement.Fragment
  readonly leaseMs: number
}

/** The time when a lease of `leaseMs` expires that begins now. */
export const expiresAt = (sql: Statement.Constructor, { leaseMs, now }: LeaseParameters): Statement.Fragment =>
  sql`${now} + ${leaseMs}::float8 * interval '1 millisecond'`

/** The time of the next lease check for a lease that expires then. Leases that expire within a second are checked together. */
export const checkAt = (sql: Statement.Constructor, at: Statement.Fragment): Statement.Fragment =>
  sql`date_trunc('second', ${at} + interval '999 milliseconds')`
