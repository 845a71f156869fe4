/** `govoice serve`: the server, until it is asked to stop. */
import { Command } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

/**
 * The command, for these environment variables. It returns when the start of the server has begun.
 */
export const serve = (env: EnvironmentVariables) =>
  Command.make("serve", {}, () =>
    load(
      () => import("./serve/start.ts"),
      ({ start }) => start(env)
    )
  ).pipe(
    Command.withDescription(
      "Run the server: API and workers, or one of them by GOVOICE_ROLE. Without DATABASE_URL it keeps its data in .govoice, on an embedded Postgres. SIGTERM or Ctrl-C stops it after the requests and attempts in flight. Settings are environment variables: govoice settings lists them."
    ),
    Command.withShortDescription("Run the server."),
    Command.withExamples([
      { command: "govoice serve", description: "On the embedded database, at http://127.0.0.1:3000" },
      { command: "PORT=8080 GOVOICE_DATA_DIR=memory govoice serve", description: "On another port, keeping nothing" },
      {
        command: "node --env-file=govoice.env $(which govoice) serve",
        description: "With settings from a file"
      }
    ])
  )
