/** `govoice migrate`: migrates the database before the processes that need it start. */
import { Command, Flag } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

export const migrate = (env: EnvironmentVariables) =>
  Command.make(
    "migrate",
    {
      check: Flag.Boolean("check").pipe(
        Flag.withDescription("Change nothing, and exit with 1 when the schema is not current."),
        Flag.withDefault(false)
      )
    },
    (flags) =>
      load(
        () => import("./migrate/migrate.ts"),
        ({ migrate }) => migrate(env, flags)
      )
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
