/**
 * `govoice migrate`: brings the database up to date before the processes that need it are started.
 *
 * @since 0.1.0
 */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { SqlClient } from "effect/sql"
import * as Migrations from "../database/Migrations.ts"
import * as deployment from "./deployment.ts"
import { Failure } from "./Failure.ts"

const selectMigrated = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly exists: boolean }>`SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`
  return row?.exists === true
})

/**
 * Whether the database has every migration that this program knows. An empty database has none.
 *
 * @category getters
 * @since 0.1.0
 */
export const isCurrent = Effect.gen(function* () {
  return (yield* selectMigrated) && (yield* Migrations.isCurrent)
})

const outdated = new Failure({ message: "The schema is not current. Bring it up to date with: govoice migrate" })

/**
 * The command, for these environment variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const migrate = (environment: deployment.Environment) =>
  Command.make(
    "migrate",
    {
      check: Flag.Boolean("check").pipe(
        Flag.withDescription("Change nothing; end with 1 when the schema is not current."),
        Flag.withDefault(false)
      )
    },
    Effect.fnUntraced(function* ({ check }) {
      const settings = yield* deployment.settings(environment)
      const run = Effect.gen(function* () {
        if (yield* isCurrent) return yield* Console.log("The schema is current.")
        if (check) return yield* outdated
        yield* Migrations.run
        yield* Console.log("The schema was brought up to date.")
      })
      yield* deployment.onDatabase(settings, run)
    })
  ).pipe(
    Command.withDescription(
      "Bring the database up to date. `serve` does it too when it starts; run this first where many processes start at once, or where only one role may change the schema."
    ),
    Command.withShortDescription("Bring the database up to date."),
    Command.withExamples([
      { command: "govoice migrate", description: "Run what is missing" },
      { command: "govoice migrate --check", description: "Only say whether something is missing" }
    ])
  )
