/**
 * The time before which no invoice can appear any more, so that a reader who follows a list misses none.
 *
 * An invoice has its time before its transaction commits. `SubmitInvoice` stores it at most `lateMs` after that time, or takes
 * its time within the transaction. So whoever stores an invoice of an earlier time than `lateMs` ago holds a lock of the table
 * now, and its transaction is waited for.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { textArray } from "../database/Arrays.ts"

/** How old an invoice may be when its transaction begins to store it, in milliseconds. */
export const lateMs = 250

/**
 * How far the time of an invoice may be ahead of the database's: more than the clock of a process is off that was compared with it. It
 * is not worked on before.
 */
export const earlyMs = 1000

/** The age from which an invoice is stored or refused: the timeouts of sessions end transactions before. */
export const settledMs = 120_000

const waitMs = 1000
const checkMs = 10

// Also by less than the resolution of the clock and of identifiers.
const lastMs = lateMs + 10

/**
 * Makes the effect that returns the time, in milliseconds. It contains what was stored before the effect began, unless a
 * transaction holds its lock for longer than a second: then it is `settledMs` ago.
 */
export const makeTime = Effect.map(SqlClient.SqlClient, (sql) => {
  const writers = sql`
    SELECT virtualtransaction FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'invoices'::regclass AND mode = 'RowExclusiveLock' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  `
  // `now()` is the start of the transaction, before the locks are read.
  const begin = sql<{ readonly now: number; readonly writers: ReadonlyArray<string> }>`
    SELECT (extract(epoch FROM now()) * 1000)::float8 AS now, ARRAY(${writers}) AS writers
  `
  const areOver = (of: ReadonlyArray<string>) =>
    Effect.map(
      sql`SELECT FROM (${writers}) AS writer WHERE virtualtransaction = ANY(${textArray(of)}) LIMIT 1`,
      ({ length }) => length === 0
    )

  return Effect.gen(function* () {
    yield* Effect.sleep(lastMs)
    const [row] = yield* begin
    const { now, writers: of } = row!
    for (let waited = 0; of.length > 0 && !(yield* areOver(of)); waited += checkMs) {
      if (waited >= waitMs) return now - settledMs
      yield* Effect.sleep(checkMs)
    }
    return now - lateMs
  })
})
