/**
 * `govoice doctor`: checks a deployment, and says how to correct what is wrong. Changes nothing. Its only request asks KSeF for
 * the time, where an environment is set.
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type * as deployment from "./deployment.ts"
import { check as checkDatabase } from "./doctor/database.ts"
import type { Finding } from "./doctor/Finding.ts"
import { checkEnvironment } from "./doctor/ksef.ts"
import { checkPolicy, checkUrl } from "./doctor/guard.ts"
import { check as checkRuntime } from "./doctor/runtime.ts"
import { check as checkSettings } from "./doctor/settings.ts"
import { Failure } from "./Failure.ts"

const mark = { ok: "ok  ", warning: "WARN", fault: "FAIL" } as const

const print = ({ check, level, message, remedy }: Finding): string =>
  [
    `${mark[level]}  ${check.padEnd(9)}  ${message}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(17)}${remedy}`])
  ].join("\n")

const examine = Effect.fnUntraced(function* (environment: deployment.Environment, url: string | undefined) {
  const { findings, settings } = checkSettings(environment)
  const all: Array<Finding> = [...checkRuntime(), ...findings]
  if (settings === undefined) return all
  all.push(...(yield* checkDatabase(settings)), ...checkPolicy(settings.webhooks))
  all.push(...(yield* checkEnvironment(settings)))
  if (url !== undefined) all.push(yield* checkUrl(settings.webhooks, url))
  return all
})

export const doctor = (environment: deployment.Environment) =>
  Command.make(
    "doctor",
    {
      url: Flag.String("url").pipe(
        Flag.withDescription("Also judge this webhook URL as before an attempt, without a request."),
        Flag.optional
      ),
      json: Flag.Boolean("json").pipe(Flag.withDescription("Print the findings as JSON."), Flag.withDefault(false))
    },
    Effect.fnUntraced(function* ({ json, url }) {
      const findings = yield* examine(environment, Option.getOrUndefined(url))
      yield* Console.log(json ? JSON.stringify(findings, null, 2) : findings.map(print).join("\n"))
      const faults = findings.filter(({ level }) => level === "fault").length
      if (faults > 0) return yield* new Failure({ message: `${faults} of ${findings.length} checks failed.` })
    })
  ).pipe(
    Command.withDescription(
      "Check settings, database, clock, keys, outbound guard and live mode, and say how to correct what is wrong. Changes nothing. Exits with 1 when a check fails; a warning can be intended."
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
