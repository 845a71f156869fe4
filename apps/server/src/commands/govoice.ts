/** The `govoice` command: everything that is done to a deployment from a shell. */
import { Command } from "effect/cli"
import { account } from "./account.ts"
import { checkInvoice } from "./checkInvoice.ts"
import { doctor } from "./doctor.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { ksef } from "./ksef.ts"
import { keys } from "./keys.ts"
import { migrate } from "./migrate.ts"
import { prune } from "./prune.ts"
import { serve } from "./serve.ts"
import { settings } from "./settings.ts"

/** The command, for these environment variables. */
export const govoice = (env: EnvironmentVariables) =>
  Command.make("govoice").pipe(
    Command.withDescription(
      "Govoice: e-invoice submission that loses nothing, and signed webhooks. Start with `govoice serve`: it needs no database and no settings. Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted."
    ),
    Command.withSubcommands([
      serve(env),
      doctor(env),
      migrate(env),
      account(env),
      keys(env),
      ksef(env),
      prune(env),
      checkInvoice,
      settings
    ]),
    Command.withExamples([
      { command: "govoice serve", description: "Run the server here, on an embedded Postgres" },
      { command: "govoice doctor", description: "See whether a deployment has what it needs" },
      { command: "govoice account create owner@example.com --organization Example", description: "A first API key" }
    ])
  )
