/**
 * Client-side timeouts of statements.
 *
 * The statement timeout of the database does not cover a dead peer, which TCP can take 15 minutes to report.
 */
import { Effect, Fiber, type Scope } from "effect"
import { SqlError } from "effect/sql"

/**
 * The timeout of statements of requests, in milliseconds: longer than the statement timeout, shorter than the request timeout.
 */
export const requestMs = 12_000

/** The timeout of lookups that requests share, in milliseconds: others wait behind them. */
export const sharedMs = 5000

/** The timeout of statements of the workers, in milliseconds: longer than their statement timeout. */
export const engineMs = 35_000

/**
 * Fails with a statement timeout if there is no response in time. The statement may have been executed. The connection is
 * closed unless it responds within five seconds.
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

/**
 * Like `withTimeout`, for a statement that requests share: does not wait until the connection is closed, which takes five more
 * seconds where the peer is gone. The statement runs in the scope.
 */
export const withSharedTimeout =
  (scope: Scope.Scope, milliseconds = sharedMs) =>
  <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.flatMap(Effect.forkIn(statement, scope, { startImmediately: true }), (fiber) =>
      Effect.onError(withTimeout(milliseconds)(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    )
