/** `govoice migrate`: migrates the database before the processes that need it start. */
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Migrations from "../database/Migrations.ts"
import * as deployment from "./deployment.ts"
import { Failure } from "./Failure.ts"

const outdated = new Failure({ message: "The schema is not current. Run 'govoice migrate'." })

export const migrate = (environment: deployment.Environment) =>
  Command.make(
    "migrate",
    {
      check: Flag.Boolean("check").pipe(
        Flag.withDescription("Change nothing, and exit with 1 when the schema is not current."),
        Flag.withDefault(false)
      )
    },
    Effect.fnUntraced(function* ({ check }) {
      const settings = yield* deployment.settings(environment)
      const run = Effect.gen(function* () {
        if (yield* Migrations.isCurrent) return yield* Console.log("The schema is current.")
        if (check) return yield* outdated
        yield* Migrations.run
        yield* Console.log("The schema was migrated.")
      })
      yield* deployment.onDatabase(settings, run)
    })
  ).pipe(
    Command.withDescription(
      "Migrate the database. `serve` does so too when it starts: run this first where many processes start at once, or where only one user may change the schema."
    ),
    Command.withShortDescription("Migrate the database."),
    Command.withExamples([
      { command: "govoice migrate", description: "Apply the migrations that are missing" },
      { command: "govoice migrate --check", description: "Tell whether any are missing" }
    ])
  )
