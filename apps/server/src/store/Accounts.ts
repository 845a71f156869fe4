/**
 * Keeps accounts in the `accounts` table.
 *
 * @since 0.1.0
 */
import type { Account } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Clock, Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NewId from "../security/NewId.ts"
import { iso } from "./Instant.ts"

/**
 * Somebody has an account with this email already.
 *
 * @category errors
 * @since 0.1.0
 */
export class EmailTaken extends Data.TaggedError("EmailTaken") {}

/**
 * Service that stores and finds accounts. Emails are compared without letter case.
 *
 * @category services
 * @since 0.1.0
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    readonly create: (email: string, passwordHash: string) => Effect.Effect<Account.Account, EmailTaken>
    readonly find: (id: Ids.AccountId) => Effect.Effect<Account.Account | undefined>
    readonly findCredentials: (
      email: string
    ) => Effect.Effect<{ readonly id: Ids.AccountId; readonly passwordHash: string } | undefined>
  }
>()("@govoice/server/store/Accounts") {}

interface Row {
  readonly id: Ids.AccountId
  readonly email: string
  readonly created_at: Date
}

const toRecord = ({ created_at, email, id }: Row): Account.Account => ({
  id,
  object: "account",
  email,
  created_at: iso(created_at)
})

const normalize = (email: string): string => email.trim().toLowerCase()

/**
 * Layer that provides `Accounts` from a migrated database.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Accounts, never, SqlClient.SqlClient> = Layer.effect(
  Accounts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = (id: Ids.AccountId, now: Date, email: string, passwordHash: string) => sql<Row>`
      INSERT INTO accounts (id, created_at, email, password_hash)
      VALUES (${id}, ${now}, ${email}, ${passwordHash})
      ON CONFLICT ON CONSTRAINT accounts_email_key DO NOTHING
      RETURNING id, email, created_at
    `

    const selectOne = (id: Ids.AccountId) => sql<Row>`SELECT id, email, created_at FROM accounts WHERE id = ${id}`

    const selectCredentials = (email: string) => sql<{ readonly id: Ids.AccountId; readonly password_hash: string }>`
      SELECT id, password_hash FROM accounts WHERE email = ${email}
    `

    return {
      create: Effect.fn("Accounts.create")(function* (email, passwordHash) {
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Effect.orDie(insert(NewId.at("acct", now), new Date(now), normalize(email), passwordHash))
        return row === undefined ? yield* new EmailTaken() : toRecord(row)
      }),

      find: Effect.fn("Accounts.find")(function* (id) {
        const [row] = yield* Effect.orDie(selectOne(id))
        return row && toRecord(row)
      }),

      findCredentials: Effect.fn("Accounts.findCredentials")(function* (email) {
        const [row] = yield* Effect.orDie(selectCredentials(normalize(email)))
        return row && { id: row.id, passwordHash: row.password_hash }
      })
    }
  })
)
