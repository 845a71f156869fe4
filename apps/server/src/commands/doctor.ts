/**
 * `govoice doctor`: looks at what a deployment stands on, and says what to do about what is wrong.
 *
 * It changes nothing: no migration is run, no request leaves, and nothing that is secret is printed.
 *
 * @since 0.1.0
 */
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { check as checkDatabase } from "./doctor/database.ts"
import type { Finding } from "./doctor/Finding.ts"
import { checkPolicy, checkUrl } from "./doctor/guard.ts"
import { check as checkRuntime } from "./doctor/runtime.ts"
import { check as checkSettings } from "./doctor/settings.ts"
import type * as deployment from "./deployment.ts"
import { Failure } from "./Failure.ts"

const mark = { ok: "ok  ", warning: "look", fault: "FAIL" } as const

const print = ({ about, level, remedy, says }: Finding): string =>
  [`${mark[level]}  ${about.padEnd(9)}  ${says}`, ...(remedy === undefined ? [] : [`${" ".repeat(17)}${remedy}`])].join(
    "\n"
  )

const examine = Effect.fnUntraced(function* (environment: deployment.Environment, url: string | undefined) {
  const { findings, settings } = checkSettings(environment)
  const found: Array<Finding> = [...checkRuntime(), ...findings]
  if (settings === undefined) return found
  found.push(...(yield* checkDatabase(settings)), ...checkPolicy(settings.webhooks))
  if (url !== undefined) found.push(yield* checkUrl(settings.webhooks, url))
  return found
})

/**
 * The command, for these environment variables.
 *
 * @category constructors
 * @since 0.1.0
 */
export const doctor = (environment: deployment.Environment) =>
  Command.make(
    "doctor",
    {
      url: Flag.String("url").pipe(
        Flag.withDescription("Also judge this webhook URL as the server would before an attempt, without a request."),
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
      "Check settings, database, clock and outbound guard, and say what to do about what is wrong. Changes nothing. Ends with 1 when something fails; what is marked «look» may be meant."
    ),
    Command.withShortDescription("Check settings, database, clock and outbound guard."),
    Command.withExamples([
      { command: "govoice doctor", description: "With the settings of this shell" },
      {
        command: "govoice doctor --url https://hooks.example.com/govoice",
        description: "Also see whether webhooks may go there"
      }
    ])
  )
