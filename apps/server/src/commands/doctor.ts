/**
 * `govoice doctor`: checks a deployment, and says how to correct what is wrong. Changes nothing. Its only request asks KSeF for
 * the time, where an environment is set.
 */
import { Command, Flag } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

export const doctor = (env: EnvironmentVariables) =>
  Command.make(
    "doctor",
    {
      url: Flag.String("url").pipe(
        Flag.withDescription("Also judge this webhook URL as before an attempt, without a request."),
        Flag.optional
      ),
      json: Flag.Boolean("json").pipe(Flag.withDescription("Print the findings as JSON."), Flag.withDefault(false))
    },
    (flags) =>
      load(
        () => import("./doctor/diagnose.ts"),
        ({ diagnose }) => diagnose(env, flags)
      )
  ).pipe(
    Command.withDescription(
      "Check settings, database, clock, keys, outbound guard and live mode, and print a remedy for each fault. Changes nothing. Exits with 1 when a check fails; a warning can be intended."
    ),
    Command.withShortDescription("Check settings, database, clock, keys, outbound guard and live mode."),
    Command.withExamples([
      { command: "govoice doctor", description: "With the settings of this shell" },
      {
        command: "govoice doctor --url https://hooks.example.com/govoice",
        description: "Also tell whether webhooks may be sent there"
      }
    ])
  )
