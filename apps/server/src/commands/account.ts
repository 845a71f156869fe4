/**
 * `govoice account`: accounts without the API, for deployments where signing up is closed, for a first key, and for an owner who
 * has lost the password.
 */
import { Account } from "@govoice/api"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { CommandFailure } from "./CommandFailure.ts"
import { inOneLine, readSecret } from "./input.ts"
import { ErrorCatalog } from "@govoice/core"
import * as KeyRing from "../crypto/KeyRing.ts"
import * as Passwords from "../accounts/Passwords.ts"
import * as Accounts from "../accounts/Accounts.ts"
import * as ApiKeys from "../accounts/ApiKeys.ts"
import * as Email from "../accounts/Email.ts"
import * as Organizations from "../accounts/Organizations.ts"
import { Settings } from "../settings/Settings.ts"
import * as deployment from "./deployment.ts"
import * as ofCell from "./ofCell.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { SqlClient } from "effect/sql"
import * as Sessions from "../accounts/Sessions.ts"

/** Reads the password of an email, and checks both by the rules of the API. A failure begins with `what`. */
const readCredentials = Effect.fnUntraced(function* (email: string, what: string) {
  const password = yield* readSecret("Password, 12 to 128 characters")
  if (password === "") return yield* new CommandFailure({ message: `${what}: no password on standard input.` })
  return yield* Schema.decodeUnknownEffect(Account.NewAccount)({ email, password }).pipe(
    Effect.mapError(({ message }) => new CommandFailure({ message: `${what}: ${inOneLine(message)}` }))
  )
})

const accountStores = Layer.mergeAll(Accounts.layer, ApiKeys.layer).pipe(Layer.provideMerge(Organizations.layer))

const createFirstKey = Effect.fnUntraced(function* (
  accountId: Parameters<ApiKeys.ApiKeys["Service"]["create"]>[0],
  name: string
) {
  const organizations = yield* Organizations.Organizations
  const apiKeys = yield* ApiKeys.ApiKeys
  const organization = yield* Effect.orDie(organizations.create(accountId, name))
  const key = yield* Effect.orDie(
    apiKeys.create(accountId, organization.id, { mode: "test", name: "first key", expiresAt: null })
  )
  return [`organization  ${organization.id}`, `test key      ${key.secret}`]
})

/** Creates the account. Prints its id, the organization and the key. */
export const create = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { email, organization }: { readonly email: string; readonly organization: Option.Option<string> }
) {
  const settings = yield* deployment.settings(env)
  yield* ofCell.onControlCell(settings)
  if (settings.cell !== undefined && Option.isSome(organization)) {
    return yield* new CommandFailure({
      message:
        "The organization may live in another cell, where its key belongs. Create only the account here, and the organization in the console."
    })
  }
  const { encryptionKeys } = yield* deployment.secrets(settings)
  // The password is asked for last: no other fault lets it be typed in vain.
  const make = Effect.gen(function* () {
    const account = yield* readCredentials(email, "The account cannot be created")
    const accounts = yield* Accounts.Accounts
    const passwords = yield* Passwords.Passwords
    const hash = yield* Effect.orDie(passwords.hash(account.password, { network: "operator" }))
    const store = Effect.gen(function* () {
      const { id } = yield* accounts
        .create(Email.normalize(account.email), hash)
        .pipe(Effect.mapError(() => new CommandFailure({ message: ErrorCatalog.catalog.email_taken.message })))
      const more = Option.isSome(organization) ? yield* createFirstKey(id, organization.value) : []
      return [`account       ${id}`, ...more]
    })
    // All of it or nothing: a command that was interrupted can be run again.
    const lines = yield* (yield* SqlClient.SqlClient).withTransaction(store)
    yield* Console.log(lines.join("\n"))
  })
  yield* deployment.onMigrated(
    settings,
    make.pipe(
      Effect.provide(accountStores),
      Effect.provide([KeyRing.layer(encryptionKeys), Passwords.layer, Layer.succeed(Settings)(settings)])
    )
  )
})

const find = Effect.fnUntraced(function* (email: string) {
  const found = yield* (yield* Accounts.Accounts).findCredentials(Email.normalize(email))
  return found ?? (yield* new CommandFailure({ message: "No account has this email. Check its spelling." }))
})

const replace = Effect.fnUntraced(function* (email: string, password: string) {
  const accounts = yield* Accounts.Accounts
  const sessions = yield* Sessions.Sessions
  const { id, passwordHash } = yield* find(email)
  const hash = yield* Effect.orDie((yield* Passwords.Passwords).hash(password, { network: "operator" }))
  if (!(yield* accounts.replacePassword(id, passwordHash, hash))) {
    return yield* new CommandFailure({ message: "The password was changed meanwhile. Run the command again." })
  }
  return { id, ended: yield* sessions.revokeAll(id) }
})

/** Replaces the password. Prints the account, and how many sessions ended. */
export const resetPassword = Effect.fnUntraced(function* (env: EnvironmentVariables, email: string) {
  const settings = yield* deployment.settings(env)
  yield* ofCell.onControlCell(settings)
  const reset = Effect.gen(function* () {
    const credentials = yield* readCredentials(email, "The password cannot be reset")
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(replace(credentials.email, credentials.password))
  })
  const { ended, id } = yield* deployment.onMigrated(
    settings,
    reset.pipe(Effect.provide(Layer.mergeAll(Accounts.layer, Sessions.layer, Passwords.layer)))
  )
  yield* Console.log(`Password of ${id} replaced; ${ended.length} sessions ended.`)
})
