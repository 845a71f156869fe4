/** `govoice account`: accounts without the API, for deployments where signing up is closed, and for a first key. */
import { Argument, Command, Flag } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

const create = (env: EnvironmentVariables) =>
  Command.make(
    "create",
    {
      email: Argument.String("email").pipe(Argument.withDescription("The email address that logs in.")),
      organization: Flag.String("organization").pipe(
        Flag.withDescription("Also make an organization of this name, with a test key that is shown once."),
        Flag.optional
      )
    },
    (flags) =>
      load(
        () => import("./account/create.ts"),
        ({ create }) => create(env, flags)
      )
  ).pipe(
    Command.withDescription(
      "Create an account. The password is read from standard input, or from a prompt. Works also with GOVOICE_SIGNUP=closed."
    ),
    Command.withExamples([
      { command: "govoice account create owner@example.com", description: "Ask for the password" },
      {
        command: "govoice account create owner@example.com --organization Example < password.txt",
        description: "Account, organization and first test key in one go"
      }
    ])
  )

/** The command, for these environment variables. */
export const account = (env: EnvironmentVariables) =>
  Command.make("account").pipe(
    Command.withDescription("Accounts, which log in and own organizations."),
    Command.withSubcommands([create(env)])
  )
