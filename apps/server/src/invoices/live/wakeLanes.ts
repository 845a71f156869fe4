/**
 * Makes lanes due, so that a worker claims them.
 *
 * A lane that is due or leased is left alone: its row is not locked, so concurrent submissions of a taxpayer do not wait for
 * each other. The holder of a leased lane is notified by `Notifier`, and reads its work again before it releases the lane.
 */
import { Effect } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { StatementTime } from "../../database/StatementTime.ts"

/** Makes the statement that wakes the lanes of a query, which returns one column of NIPs. It can be a step of a `WITH`. */
export const makeStatement = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (nips: Statement.Fragment, now: Statement.Fragment): Statement.Fragment => sql`
    INSERT INTO national_lanes (nip, due_at)
    SELECT DISTINCT waking.nip, ${now} FROM (${nips}) AS waking (nip)
    WHERE NOT EXISTS (
      SELECT 1 FROM national_lanes WHERE national_lanes.nip = waking.nip AND (is_leased OR due_at <= ${now})
    )
    ORDER BY waking.nip
    ON CONFLICT (nip) DO UPDATE SET due_at = least(national_lanes.due_at, excluded.due_at) WHERE NOT national_lanes.is_leased
  `
})

/** Makes the effect that wakes the lane of one taxpayer. Call `Notifier.wake("lanes")` once it is committed. */
export const makeWake = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const statement = yield* makeStatement
  const statementTime = (yield* StatementTime)(sql)
  return (nip: string): Effect.Effect<void, SqlError.SqlError> =>
    Effect.flatMap(statementTime, (now) => sql`${statement(sql`SELECT ${nip}::text`, now)}`)
})

/** Wakes the lane of one taxpayer, outside of requests. */
export const wakeLane = (nip: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(makeWake, (wake) => wake(nip))
