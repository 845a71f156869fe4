/**
 * Interruptions: attempts whose outcome is unknown because their worker ended before it recorded one.
 *
 * An interruption is not an attempt. It is retried at the times of the retry schedule, by the number of interruptions.
 * From `quarantineAfter` interruptions on, an attempt is made in the quarantine process alone, where it can interrupt
 * nothing else. After `maxInQuarantine` interruptions of that process it is not retried.
 */
import { Backoff } from "@govoice/dispatcher"
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"
import type { Statement } from "effect/sql"

/** The number of interruptions from which on attempts are made in quarantine. Partial indexes repeat it. */
export const quarantineAfter = 2

/** The number of interruptions in quarantine after which there is no further attempt. */
export const maxInQuarantine = 3

const jitterShare = 0.2
const jitter = Backoff.proportional(jitterShare)

// A schedule without waits allows one attempt, but its interruption is retried nevertheless.
const scheduleOf = (retrySchedule: ReadonlyArray<number>): ReadonlyArray<number> =>
  retrySchedule.length === 0 ? Backoff.defaultSchedule : retrySchedule

/**
 * Returns the wait after an interruption in milliseconds. `count` is the number of interruptions, `random` is in [0, 1).
 * The last wait of the schedule repeats.
 */
export const nextWait = (count: number, random: number, retrySchedule: ReadonlyArray<number>): number => {
  const schedule = scheduleOf(retrySchedule)
  const attempt = Math.min(count, schedule.length)
  return Backoff.nextDelay({ attempt, schedule, random: () => random, jitter }) ?? 0
}

/** Makes `nextWait` as an expression of SQL: an interval for a number of interruptions. */
export const makeWait = (sql: Statement.Constructor, retrySchedule: ReadonlyArray<number>) => {
  const schedule = scheduleOf(retrySchedule)
  const milliseconds = Result.getOrThrow(PgTypes.array(schedule, PgTypes.OID.float8))
  return (count: Statement.Fragment): Statement.Fragment =>
    sql`round((${milliseconds})[least(${count}, ${schedule.length}::int)]
          * (${1 - jitterShare}::float8 + ${2 * jitterShare}::float8 * random())) * interval '1 millisecond'`
}
