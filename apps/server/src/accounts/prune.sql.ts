/** The statements that delete refresh tokens, sessions and API keys past their retention. */
import type { Statement } from "effect/sql"

/** The rows that a statement deletes: those that ended before a time, at most `limit`. */
export interface Ended {
  readonly before: Date
  readonly limit: number
}

/**
 * Deletes expired refresh tokens, and sessions that have no other. A session ends with its last token: one that can still be
 * refreshed has a token that has not expired. Returns how many of each it deleted.
 */
export const deleteRefreshTokens = (
  sql: Statement.Constructor,
  { before, limit }: Ended
): Statement.Statement<{ readonly tokens: number; readonly sessions: number }> => sql`
  WITH expired AS MATERIALIZED (
    SELECT hash, session_id FROM refresh_tokens
    WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit}::int
    FOR UPDATE SKIP LOCKED
  ), token AS (
    DELETE FROM refresh_tokens WHERE hash IN (SELECT hash FROM expired) RETURNING 1
  ), session AS (
    DELETE FROM sessions
    WHERE id IN (SELECT session_id FROM expired) AND NOT EXISTS (
      SELECT FROM refresh_tokens
      WHERE session_id = sessions.id AND hash NOT IN (SELECT hash FROM expired)
    )
    RETURNING 1
  )
  SELECT (SELECT count(*)::int FROM token) AS tokens, (SELECT count(*)::int FROM session) AS sessions
`

/**
 * Deletes API keys that were revoked or have expired, and returns how many.
 *
 * No other table references keys. The expression is that of the index. An array of identifiers is looked up in the primary
 * key; a join would read the whole table while it has a few ten thousand rows.
 */
export const deleteApiKeys = (
  sql: Statement.Constructor,
  { before, limit }: Ended
): Statement.Statement<{ readonly removed: number }> => sql`
  WITH ended AS MATERIALIZED (
    SELECT id FROM api_keys
    WHERE least(revoked_at, expires_at) < ${before} ORDER BY least(revoked_at, expires_at) LIMIT ${limit}::int
    FOR UPDATE SKIP LOCKED
  ), api_key AS (
    DELETE FROM api_keys WHERE id = ANY (ARRAY(SELECT id FROM ended)) RETURNING 1
  )
  SELECT count(*)::int AS removed FROM api_key
`
