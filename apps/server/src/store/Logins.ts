/**
 * Keeps logins and their refresh tokens.
 *
 * A login is a family of tokens. Each refresh spends one and makes the next; a spent one that comes back was stolen or
 * lost, and ends the family.
 *
 * @since 0.1.0
 */
import type { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Claims } from "../security/AccessTokens.ts"

/**
 * How long a refresh token is good for, in seconds: 30 days.
 *
 * @category constants
 * @since 0.1.0
 */
export const lifetime = 30 * 86_400

/**
 * The refresh token is unknown, spent, expired or revoked. If there is a login that it belonged to, that has ended now.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidRefreshToken extends Data.TaggedError("InvalidRefreshToken")<{
  readonly revoked: Claims | undefined
}> {}

/**
 * Service that opens, continues and ends logins. Tokens come as their hashes.
 *
 * @category services
 * @since 0.1.0
 */
export class Logins extends Context.Service<
  Logins,
  {
    readonly open: (accountId: Ids.AccountId, token: Uint8Array) => Effect.Effect<Claims>
    readonly rotate: (spent: Uint8Array, next: Uint8Array) => Effect.Effect<Claims, InvalidRefreshToken>
    /** Ends the login of a token, if there is one, and returns it. */
    readonly revoke: (token: Uint8Array) => Effect.Effect<Claims | undefined>
    readonly isActive: (claims: Claims) => Effect.Effect<boolean>
  }
>()("@govoice/server/store/Logins") {}

interface Row {
  readonly login_id: string
  readonly account_id: Ids.AccountId
}

const toClaims = (row: Row): Claims => ({ accountId: row.account_id, loginId: row.login_id })

/**
 * Layer that provides `Logins` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Logins, never, SqlClient.SqlClient> = Layer.effect(
  Logins,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = (loginId: string, accountId: Ids.AccountId, token: Uint8Array, now: Date, expiresAt: Date) => sql`
      WITH login AS (
        INSERT INTO logins (id, account_id, created_at) VALUES (${loginId}, ${accountId}, ${now}) RETURNING id
      )
      INSERT INTO refresh_tokens (hash, login_id, created_at, expires_at)
      SELECT ${token}, id, ${now}, ${expiresAt} FROM login
    `

    // Two refreshes at once wait for each other on the row of the token, and the second finds it spent.
    const spendAndInsert = (spent: Uint8Array, next: Uint8Array, now: Date, expiresAt: Date) => sql<Row>`
      WITH spent AS (
        UPDATE refresh_tokens SET spent_at = ${now}
        FROM logins
        WHERE hash = ${spent} AND spent_at IS NULL AND expires_at > ${now}
          AND logins.id = login_id AND revoked_at IS NULL
        RETURNING login_id, account_id
      ), next AS (
        INSERT INTO refresh_tokens (hash, login_id, created_at, expires_at)
        SELECT ${next}, login_id, ${now}, ${expiresAt} FROM spent
      )
      SELECT login_id, account_id FROM spent
    `

    const revokeOf = (token: Uint8Array, now: Date) => sql<Row>`
      UPDATE logins SET revoked_at = coalesce(revoked_at, ${now})
      WHERE id = (SELECT login_id FROM refresh_tokens WHERE hash = ${token})
      RETURNING id AS login_id, account_id
    `

    const selectActive = ({ accountId, loginId }: Claims) => sql`
      SELECT 1 FROM logins WHERE id = ${loginId} AND account_id = ${accountId} AND revoked_at IS NULL
    `

    const revoke = Effect.fn("Logins.revoke")(function* (token: Uint8Array) {
      const now = yield* Clock.currentTimeMillis
      const [row] = yield* Effect.orDie(revokeOf(token, new Date(now)))
      return row && toClaims(row)
    })

    return {
      revoke,

      open: Effect.fn("Logins.open")(function* (accountId, token) {
        const now = yield* Clock.currentTimeMillis
        const loginId = randomUUID()
        yield* Effect.orDie(insert(loginId, accountId, token, new Date(now), new Date(now + lifetime * 1000)))
        return { accountId, loginId }
      }),

      rotate: Effect.fn("Logins.rotate")(function* (spent, next) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(spendAndInsert(spent, next, new Date(now), new Date(now + lifetime * 1000)))
        if (row !== undefined) return toClaims(row)
        return yield* new InvalidRefreshToken({ revoked: yield* revoke(spent) })
      }),

      isActive: Effect.fn("Logins.isActive")(function* (claims) {
        return (yield* Effect.orDie(selectActive(claims))).length > 0
      })
    }
  })
)
