/**
 * The current time of the database, for use inside a statement.
 *
 * Leases, claims and schedules are compared with this time alone: the clock of a process can neither extend a lease nor
 * end the lease of another process. It is the start of the statement, in whole milliseconds.
 */
import { Context, Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/**
 * Makes the fragment that stands for the current time. Tests replace it by a parameter that holds the time of `Clock`.
 */
export const StatementTime: Context.Reference<(sql: SqlClient.SqlClient) => Effect.Effect<Statement.Fragment>> =
  Context.Reference("@govoice/server/database/StatementTime", {
    defaultValue:
      () =>
      (sql): Effect.Effect<Statement.Fragment> =>
        Effect.succeed(sql`date_trunc('milliseconds', statement_timestamp())`)
  })

/**
 * Makes the fragment that stands for the time at which it is evaluated: in a statement, after the statement has its locks. Tests
 * replace it like `StatementTime`.
 */
export const EvaluationTime: Context.Reference<(sql: SqlClient.SqlClient) => Effect.Effect<Statement.Fragment>> =
  Context.Reference("@govoice/server/database/EvaluationTime", {
    defaultValue:
      () =>
      (sql): Effect.Effect<Statement.Fragment> =>
        Effect.succeed(sql`date_trunc('milliseconds', clock_timestamp())`)
  })
