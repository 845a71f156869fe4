/**
 * Gives up what the database does not answer.
 *
 * The database ends what takes too long by itself. But when the machine behind a connection is gone without a word, nobody
 * does: TCP tries for a quarter of an hour before it says so.
 */
import { Effect } from "effect"
import { SqlError } from "effect/sql"

/**
 * How long an answer to a request is waited for, in milliseconds: longer than its statement may take, shorter than it may.
 */
export const requestMs = 12_000

/** How long the engine waits, in milliseconds: longer than its statements may take. */
export const engineMs = 35_000

/**
 * Fails with a statement timeout when there is no answer in time. Whether the statement was carried out is not known then.
 * The connection is closed unless it says a word within five seconds.
 */
export const withTimeout =
  (milliseconds: number) =>
  <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.timeoutOrElse(statement, {
      duration: milliseconds,
      orElse: () =>
        Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.StatementTimeoutError({ cause: new Error(`No answer within ${milliseconds} ms`) })
          })
        )
    })
