/**
 * The `sessions` and `refresh_tokens` tables.
 *
 * A session is a family of refresh tokens. Each refresh spends one token and issues the next. A spent token that is used
 * again was stolen or lost, so it ends the session.
 */
import type { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { SessionIdentity } from "./AccessTokens.ts"
import type { Email } from "./Email.ts"

/** The lifetime of a refresh token, in seconds: 30 days. */
export const lifetime = 30 * 86_400

/** How long a spent refresh token of the console may be used again, in milliseconds. */
export const graceMs = 30_000

/** The refresh token is unknown, spent, expired or revoked. If it belonged to a session, that has ended now. */
export class InvalidRefreshToken extends Data.TaggedError("InvalidRefreshToken")<{
  readonly revoked: SessionIdentity | undefined
}> {}

/** Opens, continues and ends sessions. Refresh tokens are passed as their hashes. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Opens a session of an account from the network of a client, unless the password was replaced meanwhile. */
    readonly open: (
      account: { readonly id: Ids.AccountId; readonly passwordHash: string },
      token: Uint8Array,
      network: string
    ) => Effect.Effect<SessionIdentity | undefined>
    readonly rotate: (spent: Uint8Array, next: Uint8Array) => Effect.Effect<SessionIdentity, InvalidRefreshToken>
    /**
     * Like `rotate`, but a spent token may be used again for `graceMs` while `next` is unspent, with the same result. So an
     * answer that was lost, or two tabs that refresh at once, do not end the session. A token that comes with the identifier of
     * another session ends its own: the limit of refreshes counts by the identifier.
     */
    readonly rotateWithGrace: (
      spent: Uint8Array,
      next: Uint8Array,
      sessionId: string
    ) => Effect.Effect<SessionIdentity, InvalidRefreshToken>
    /** Ends the session of a token and returns it, if there is one. */
    readonly revoke: (token: Uint8Array) => Effect.Effect<SessionIdentity | undefined>
    /** Ends all sessions of an account but one, and returns them. */
    readonly revokeAll: (
      accountId: Ids.AccountId,
      options?: { readonly except: string }
    ) => Effect.Effect<ReadonlyArray<SessionIdentity>>
    readonly isActive: (session: SessionIdentity) => Effect.Effect<boolean>
    /** Returns whether the account of an email has opened a session from this network that is still stored. */
    readonly isKnownNetwork: (email: Email, network: string) => Effect.Effect<boolean>
  }
>()("@govoice/server/accounts/Sessions") {}

interface Row {
  readonly session_id: string
  readonly account_id: Ids.AccountId
}

const toIdentity = (row: Row): SessionIdentity => ({ accountId: row.account_id, sessionId: row.session_id })

/** Provides `Sessions` from a migrated database. */
export const layer: Layer.Layer<Sessions, never, SqlClient.SqlClient> = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // Whoever replaces the password ends the sessions then, and this waits for them: none begins in between.
    const insert = (
      session: SessionIdentity,
      { network, passwordHash, token }: { passwordHash: string; token: Uint8Array; network: string },
      time: { readonly now: Date; readonly expiresAt: Date }
    ) => sql`
      WITH session AS (
        INSERT INTO sessions (id, account_id, created_at, network)
        SELECT ${session.sessionId}::text, id, ${time.now}::timestamptz, ${network}::text FROM accounts
        WHERE id = ${session.accountId} AND password_hash = ${passwordHash} FOR SHARE
        RETURNING id
      )
      INSERT INTO refresh_tokens (hash, session_id, expires_at)
      SELECT ${token}::bytea, id, ${time.expiresAt}::timestamptz FROM session
      RETURNING session_id
    `

    // Of two concurrent refreshes, the second waits for the row lock of the first and then finds the token spent.
    const spendAndInsert = (
      spent: Uint8Array,
      next: Uint8Array,
      now: Date,
      expiresAt: Date,
      sessionId: string | undefined
    ) => sql<Row>`
      WITH spent AS (
        UPDATE refresh_tokens SET spent_at = ${now}
        FROM sessions
        WHERE hash = ${spent} AND spent_at IS NULL AND expires_at > ${now}
          AND sessions.id = session_id AND revoked_at IS NULL
          ${sessionId === undefined ? sql`` : sql`AND session_id = ${sessionId}`}
        RETURNING session_id, account_id
      ), next AS (
        INSERT INTO refresh_tokens (hash, session_id, expires_at)
        SELECT ${next}, session_id, ${expiresAt} FROM spent
      )
      SELECT session_id, account_id FROM spent
    `

    const selectRepeated = (spent: Uint8Array, next: Uint8Array, now: Date, spentAfter: Date) => sql<Row>`
      SELECT sessions.id AS session_id, account_id
      FROM refresh_tokens AS spent
      JOIN refresh_tokens AS next ON next.hash = ${next} AND next.session_id = spent.session_id
      JOIN sessions ON sessions.id = spent.session_id
      WHERE spent.hash = ${spent} AND spent.spent_at > ${spentAfter}
        AND next.spent_at IS NULL AND next.expires_at > ${now} AND revoked_at IS NULL
    `

    const updateRevoked = (token: Uint8Array, now: Date) => sql<Row>`
      UPDATE sessions SET revoked_at = coalesce(revoked_at, ${now})
      WHERE id = (SELECT session_id FROM refresh_tokens WHERE hash = ${token})
      RETURNING id AS session_id, account_id
    `

    // The index of networks begins with the account.
    const updateAllRevoked = (accountId: Ids.AccountId, except: string, now: Date) => sql<Row>`
      UPDATE sessions SET revoked_at = ${now}
      WHERE account_id = ${accountId} AND revoked_at IS NULL AND id <> ${except}
      RETURNING id AS session_id, account_id
    `

    const selectActive = ({ accountId, sessionId }: SessionIdentity) => sql`
      SELECT 1 FROM sessions WHERE id = ${sessionId} AND account_id = ${accountId} AND revoked_at IS NULL
    `

    const selectNetwork = (email: Email, network: string) => sql`
      SELECT 1 FROM accounts JOIN sessions ON account_id = accounts.id
      WHERE email = ${email} AND network = ${network} LIMIT 1
    `

    const revoke = Effect.fn("Sessions.revoke")(function* (token: Uint8Array) {
      const now = yield* Clock.currentTimeMillis
      const [row] = yield* Effect.orDie(updateRevoked(token, new Date(now)))
      return row && toIdentity(row)
    })

    const spend = Effect.fnUntraced(function* (spent: Uint8Array, next: Uint8Array, now: number, sessionId?: string) {
      const expiresAt = new Date(now + lifetime * 1000)
      return (yield* Effect.orDie(spendAndInsert(spent, next, new Date(now), expiresAt, sessionId)))[0]
    })

    return {
      revoke,

      open: Effect.fn("Sessions.open")(function* ({ id, passwordHash }, token, network) {
        const now = yield* Clock.currentTimeMillis
        const session = { accountId: id, sessionId: randomUUID() }
        const time = { now: new Date(now), expiresAt: new Date(now + lifetime * 1000) }
        const opened = yield* Effect.orDie(insert(session, { passwordHash, token, network }, time))
        return opened.length === 0 ? undefined : session
      }),

      rotate: Effect.fn("Sessions.rotate")(function* (spent, next) {
        const row = yield* spend(spent, next, yield* Clock.currentTimeMillis)
        if (row !== undefined) return toIdentity(row)
        return yield* new InvalidRefreshToken({ revoked: yield* revoke(spent) })
      }),

      rotateWithGrace: Effect.fn("Sessions.rotateWithGrace")(function* (spent, next, sessionId) {
        const now = yield* Clock.currentTimeMillis
        const row = yield* spend(spent, next, now, sessionId)
        if (row !== undefined) return toIdentity(row)
        const [repeated] = yield* Effect.orDie(selectRepeated(spent, next, new Date(now), new Date(now - graceMs)))
        if (repeated !== undefined && repeated.session_id === sessionId) return toIdentity(repeated)
        return yield* new InvalidRefreshToken({ revoked: yield* revoke(spent) })
      }),

      revokeAll: Effect.fn("Sessions.revokeAll")(function* (accountId, { except } = { except: "" }) {
        const now = yield* Clock.currentTimeMillis
        return (yield* Effect.orDie(updateAllRevoked(accountId, except, new Date(now)))).map(toIdentity)
      }),

      isActive: Effect.fn("Sessions.isActive")(function* (session) {
        return (yield* Effect.orDie(selectActive(session))).length > 0
      }),

      isKnownNetwork: Effect.fn("Sessions.isKnownNetwork")(function* (email, network) {
        return (yield* Effect.orDie(selectNetwork(email, network))).length > 0
      })
    }
  })
)
