/**
 * Resets of passwords, on the rows of the accounts. A request notes that a mail is due; the link of the mail is made when it is
 * sent, and only its hash is stored.
 */
import type { Ids } from "@govoice/core"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SessionIdentity } from "./AccessTokens.ts"
import type { Email } from "./Email.ts"
import { Sessions } from "./Sessions.ts"

/** The languages of mails. */
export type Language = "en" | "pl"

/** A mail that is due. */
export interface DueReset {
  readonly email: string
  readonly language: Language
}

/** Requests and uses resets. Tokens are passed as their hashes. */
export class PasswordResets extends Context.Service<
  PasswordResets,
  {
    /** Notes that a mail is due, if an account has this email and got none within five minutes. */
    readonly request: (email: Email, language: Language) => Effect.Effect<void>
    /** Takes the mail that is due longest, and makes this its token. Retry after one minute, doubling with the age of the request. */
    readonly take: (token: Uint8Array) => Effect.Effect<DueReset | undefined>
    /** Notes that the mail with this token was sent. */
    readonly sent: (token: Uint8Array) => Effect.Effect<void>
    readonly isValid: (token: Uint8Array) => Effect.Effect<boolean>
    /** Spends the token, replaces the password, and ends all sessions, which are returned. `undefined` if it is not valid. */
    readonly use: (token: Uint8Array, passwordHash: string) => Effect.Effect<ReadonlyArray<SessionIdentity> | undefined>
  }
>()("@govoice/server/accounts/PasswordResets") {}

/** Provides `PasswordResets` from a migrated database. */
export const layer: Layer.Layer<PasswordResets, never, SqlClient.SqlClient | Sessions> = Layer.effect(
  PasswordResets,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const sessions = yield* Sessions

    const request = (email: Email, language: Language) => sql`
      UPDATE accounts SET reset_due_at = clock_timestamp(), reset_expires_at = clock_timestamp() + interval '30 minutes',
        reset_language = ${language}, reset_hash = NULL
      WHERE email = ${email}
        AND (reset_expires_at IS NULL OR reset_expires_at < clock_timestamp() + interval '25 minutes')
    `

    const take = (token: Uint8Array) => sql<{ readonly email: string; readonly reset_language: Language }>`
      UPDATE accounts SET reset_hash = ${token},
        reset_due_at = clock_timestamp()
          + greatest(interval '1 minute', clock_timestamp() - (reset_expires_at - interval '30 minutes'))
      WHERE id = (
        SELECT id FROM accounts WHERE reset_due_at <= clock_timestamp() AND reset_expires_at > clock_timestamp()
        ORDER BY reset_due_at LIMIT 1 FOR UPDATE SKIP LOCKED
      )
      RETURNING email, reset_language
    `

    const sent = (token: Uint8Array) => sql`UPDATE accounts SET reset_due_at = NULL WHERE reset_hash = ${token}`

    const select = (token: Uint8Array) => sql`
      SELECT 1 FROM accounts WHERE reset_hash = ${token} AND reset_expires_at > clock_timestamp()
    `

    const use = (token: Uint8Array, passwordHash: string) => sql<{ readonly id: Ids.AccountId }>`
      UPDATE accounts
      SET password_hash = ${passwordHash}, reset_hash = NULL, reset_due_at = NULL, reset_expires_at = NULL
      WHERE reset_hash = ${token} AND reset_expires_at > clock_timestamp()
      RETURNING id
    `

    return {
      request: Effect.fn("PasswordResets.request")(function* (email, language) {
        yield* Effect.orDie(request(email, language))
      }),

      take: Effect.fn("PasswordResets.take")(function* (token) {
        const [row] = yield* Effect.orDie(take(token))
        return row && { email: row.email, language: row.reset_language }
      }),

      sent: Effect.fn("PasswordResets.sent")(function* (token) {
        yield* Effect.orDie(sent(token))
      }),

      isValid: Effect.fn("PasswordResets.isValid")(function* (token) {
        return (yield* Effect.orDie(select(token))).length > 0
      }),

      use: Effect.fn("PasswordResets.use")(function* (token, passwordHash) {
        const spend = Effect.gen(function* () {
          const [account] = yield* use(token, passwordHash)
          return account && (yield* sessions.revokeAll(account.id))
        })
        return yield* Effect.orDie(sql.withTransaction(spend))
      })
    }
  })
)
