/** Runs every check of `govoice doctor`, and prints the findings. */
import { Console, Effect, Option } from "effect"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { check as checkDatabase } from "./database.ts"
import type { Finding } from "./Finding.ts"
import { checkEnvironment } from "./ksef.ts"
import { checkPolicy, checkUrl } from "./guard.ts"
import { check as checkRuntime } from "./runtime.ts"
import { check as checkSettings } from "./settings.ts"

const mark = { ok: "ok  ", warning: "WARN", fault: "FAIL" } as const

const print = ({ check, level, message, remedy }: Finding): string =>
  [
    `${mark[level]}  ${check.padEnd(9)}  ${message}`,
    ...(remedy === undefined ? [] : [`${" ".repeat(17)}${remedy}`])
  ].join("\n")

const examine = Effect.fnUntraced(function* (env: EnvironmentVariables, url: string | undefined) {
  const { findings, settings } = checkSettings(env)
  const all: Array<Finding> = [...checkRuntime(), ...findings]
  if (settings === undefined) return all
  all.push(...(yield* checkDatabase(settings)), ...checkPolicy(settings.webhooks))
  all.push(...(yield* checkEnvironment(settings)))
  if (url !== undefined) all.push(yield* checkUrl(settings.webhooks, url))
  return all
})

/** Prints the findings. Fails when one of them is a fault. */
export const diagnose = Effect.fnUntraced(function* (
  env: EnvironmentVariables,
  { json, url }: { readonly json: boolean; readonly url: Option.Option<string> }
) {
  const findings = yield* examine(env, Option.getOrUndefined(url))
  yield* Console.log(json ? JSON.stringify(findings, null, 2) : findings.map(print).join("\n"))
  const faults = findings.filter(({ level }) => level === "fault").length
  if (faults > 0) return yield* new CommandFailure({ message: `${faults} of ${findings.length} checks failed.` })
})
