/** `govoice cells move`: moves an organization to another cell. */
import { Ids } from "@govoice/core"
import { Console, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import * as Move from "../cells/Move.ts"
import * as PostgresClient from "../database/PostgresClient.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { CommandFailure } from "./CommandFailure.ts"
import * as deployment from "./deployment.ts"

const fail = (message: string) => Effect.fail(new CommandFailure({ message }))

// One connection, which keeps the lock of the move. Replication may wait for long transactions.
const connect = (database: PostgresClient.PostgresSettings) =>
  Effect.map(
    Layer.build(
      PostgresClient.layer(database, {
        applicationName: "govoice-move",
        maxConnections: 1,
        parameters: { statement_timeout: "0" },
        decidePlans: false
      })
    ),
    (context) => Context.get(context, SqlClient.SqlClient)
  )

const databasesOf = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const settings = yield* deployment.settings(env)
  const { cell, database } = settings
  if (cell === undefined || database._tag !== "Postgres") {
    return yield* fail("GOVOICE_CELL is not set. Run the command with the settings of the cell that is left.")
  }
  const { controlDatabase, name, targetDatabase } = cell
  if (targetDatabase === undefined) {
    return yield* fail(
      "Set GOVOICE_TARGET_DATABASE_URL to the database of the cell to which the organization moves, for a user that may create subscriptions."
    )
  }
  return { from: name, database, controlDatabase: controlDatabase ?? database, targetDatabase }
})

const toFailure = (error: CommandFailure | Move.MoveRefused | SqlError.SqlError): CommandFailure =>
  error instanceof CommandFailure
    ? error
    : new CommandFailure({
        message:
          error instanceof Move.MoveRefused
            ? error.message
            : `A database failed: ${reasonOf(error)}. Run the command again: it goes on where it was.`
      })

/** Moves an organization, or ends its move. */
export const move = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { abort, organization, to }: { readonly organization: string; readonly to: string; readonly abort: boolean }
) {
  const { controlDatabase, database, from, targetDatabase } = yield* databasesOf(env)
  if (!Ids.is("org", organization)) {
    return yield* fail(`Expected the id of an organization, org_…, found ${JSON.stringify(organization)}.`)
  }
  if (to === from) return yield* fail(`The command runs with the settings of cell ${from}. Name another with --to.`)
  const run = Effect.gen(function* () {
    const databases = {
      control: yield* connect(controlDatabase),
      source: yield* connect(database),
      target: yield* connect(targetDatabase),
      sourceUrl: database.url
    }
    if (abort) {
      yield* Move.abort(databases, { organization, from, to })
      return yield* Console.log(`${organization} stays in cell ${from}.`)
    }
    const { buckets, organizations } = yield* Move.run(databases, { organization, from, to, tell: Console.log })
    yield* Console.log(
      `Moved to cell ${to}: ${organizations === 1 ? "1 organization" : `${organizations} organizations`} of ${buckets === 1 ? "1 bucket" : `${buckets} buckets`}. Print the configuration of the proxy again: govoice cells proxy.`
    )
  })
  yield* Effect.mapError(Effect.scoped(run), toFailure)
})
