/**
 * The `accounts` table.
 */
import type { Account } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as IdGenerator from "../crypto/IdGenerator.ts"
import { iso } from "../database/timestamps.ts"
import type { Email } from "./Email.ts"
import type { Language } from "./PasswordResets.ts"

/** Another account has this email. */
export class EmailTaken extends Data.TaggedError("EmailTaken") {}

/** Stores and finds accounts. */
export class Accounts extends Context.Service<
  Accounts,
  {
    readonly create: (email: Email, passwordHash: string) => Effect.Effect<Account.Account, EmailTaken>
    readonly find: (id: Ids.AccountId) => Effect.Effect<Account.Account | undefined>
    /** Replaces a password hash, unless it was replaced meanwhile. Returns whether it was. A link that resets it is void then. */
    readonly replacePassword: (id: Ids.AccountId, from: string, to: string) => Effect.Effect<boolean>
    /** Sets the language of mails to the account. */
    readonly setLanguage: (id: Ids.AccountId, language: Language) => Effect.Effect<void>
    readonly findCredentials: (
      email: Email
    ) => Effect.Effect<{ readonly id: Ids.AccountId; readonly passwordHash: string } | undefined>
  }
>()("@govoice/server/accounts/Accounts") {}

interface Row {
  readonly id: Ids.AccountId
  readonly email: string
  readonly created_at: Date
}

const toApi = ({ created_at, email, id }: Row): Account.Account => ({
  id,
  object: "account",
  email,
  created_at: iso(created_at)
})

/** Provides `Accounts` from a migrated database. */
export const layer: Layer.Layer<Accounts, never, SqlClient.SqlClient> = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = (id: Ids.AccountId, now: Date, email: Email, passwordHash: string) => sql<Row>`
      INSERT INTO accounts (id, created_at, email, password_hash)
      VALUES (${id}, ${now}, ${email}, ${passwordHash})
      ON CONFLICT ON CONSTRAINT accounts_email_key DO NOTHING
      RETURNING id, email, created_at
    `

    const updateLanguage = (id: Ids.AccountId, language: Language) => sql`
      UPDATE accounts SET language = ${language} WHERE id = ${id} AND language <> ${language}
    `

    const selectOne = (id: Ids.AccountId) => sql<Row>`SELECT id, email, created_at FROM accounts WHERE id = ${id}`

    const selectCredentials = (email: Email) => sql<{ readonly id: Ids.AccountId; readonly password_hash: string }>`
      SELECT id, password_hash FROM accounts WHERE email = ${email}
    `

    const updatePassword = (id: Ids.AccountId, from: string, to: string) => sql`
      UPDATE accounts SET password_hash = ${to}, reset_hash = NULL, reset_due_at = NULL, reset_expires_at = NULL
      WHERE id = ${id} AND password_hash = ${from} RETURNING id
    `

    return {
      replacePassword: Effect.fn("Accounts.replacePassword")(function* (id, from, to) {
        return (yield* Effect.orDie(updatePassword(id, from, to))).length > 0
      }),

      setLanguage: Effect.fn("Accounts.setLanguage")(function* (id, language) {
        yield* Effect.orDie(updateLanguage(id, language))
      }),

      create: Effect.fn("Accounts.create")(function* (email, passwordHash) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(insert(IdGenerator.at("acct", now), new Date(now), email, passwordHash))
        return row === undefined ? yield* new EmailTaken() : toApi(row)
      }),

      find: Effect.fn("Accounts.find")(function* (id) {
        const [row] = yield* Effect.orDie(selectOne(id))
        return row && toApi(row)
      }),

      findCredentials: Effect.fn("Accounts.findCredentials")(function* (email) {
        const [row] = yield* Effect.orDie(selectCredentials(email))
        return row && { id: row.id, passwordHash: row.password_hash }
      })
    }
  })
)
