/**
 * Interruptions: attempts whose outcome is unknown, because their lease expired before a worker recorded one.
 *
 * An interruption is not an attempt. It is retried at the times of the retry schedule, by the number of interruptions. A delivery
 * that was interrupted `aloneAfter` times is attempted alone, and one that was interrupted `endsAfter` times fails. It does not
 * matter which process ended.
 */
import { Backoff } from "@govoice/dispatcher"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { Statement } from "effect/sql"

/** The number of interruptions from which on a delivery is attempted alone. A partial index repeats it. */
export const aloneAfter = 2

/** The number of interruptions with which a delivery fails. */
export const endsAfter = 4

const jitterShare = 0.2

/** Makes the wait after an interruption as an expression of SQL: an interval for a number of interruptions. The last wait of the schedule repeats. */
export const makeWait = (sql: Statement.Constructor, retrySchedule: ReadonlyArray<number>) => {
  // A schedule without waits allows one attempt, but its interruption is retried nevertheless.
  const schedule = retrySchedule.length === 0 ? Backoff.defaultSchedule : retrySchedule
  const milliseconds = Result.getOrThrow(PgTypes.array(schedule, PgTypes.OID.float8))
  return (count: Statement.Fragment): Statement.Fragment =>
    sql`round((${milliseconds})[least(${count}, ${schedule.length}::int)]
          * (${1 - jitterShare}::float8 + ${2 * jitterShare}::float8 * random())) * interval '1 millisecond'`
}
