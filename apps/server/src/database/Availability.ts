/**
 * Tells a database that is away for a while from a mistake of ours.
 *
 * @since 0.1.0
 */
import { SqlError } from "effect/sql"

// SQLSTATE classes and codes of a database that is stopping, starting, full or cut off (Postgres, appendix A).
const away = /^(?:08|53|57|25006)/

const stateOf = (cause: unknown): string => {
  const { code } = (typeof cause === "object" && cause !== null ? cause : {}) as { readonly code?: unknown }
  return typeof code === "string" ? code : ""
}

/**
 * Tells whether an error says that the database is away, restarting, overloaded or too slow: that a later request may
 * succeed.
 *
 * @category guards
 * @since 0.1.0
 */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof SqlError.SqlError &&
  (error.isRetryable || error.reason._tag === "AuthenticationError" || away.test(stateOf(error.reason.cause)))
