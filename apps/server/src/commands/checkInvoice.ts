/** `govoice check-invoice`: checks invoice documents without a server and without a network. */
import { Violation } from "@govoice/ksef/checks"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Console, Effect } from "effect"
import * as FileChecks from "../invoices/checks/FileChecks.ts"
import { CommandFailure } from "./CommandFailure.ts"

const isValid = ({ count, error }: FileChecks.CheckedFile): boolean => error === undefined && count === 0

const lines = (checked: FileChecks.CheckedFile): ReadonlyArray<string> => {
  const { count, error, file, form, violations, warnings } = checked
  const name = file === FileChecks.stdin ? "standard input" : Violation.escaped(file)
  const advice = warnings.map((warning) => `    warning: ${Violation.line(warning)} (${warning.source})`)
  if (error !== undefined) return [`✖ ${name}`, `    ${error}`]
  if (count === 0) {
    return [form === undefined ? `✔ ${name}  FA (2), not checked` : `✔ ${name}  ${form}`, ...advice]
  }
  const rest = count - violations.length
  return [
    `✖ ${name}${form === undefined ? "" : `  ${form}`}`,
    ...violations.map((violation) => `    ${Violation.line(violation)}`),
    ...(rest === 0 ? [] : [`    ${rest} more ${rest === 1 ? "violation is" : "violations are"} not shown.`]),
    ...advice
  ]
}

// The day of a file counts when it is sent.
const withoutAge = (checked: FileChecks.CheckedFile): FileChecks.CheckedFile => ({
  ...checked,
  warnings: checked.warnings.filter(({ code }) => code !== "issue_date_past")
})

interface CheckFlags {
  readonly files: ReadonlyArray<string>
  readonly environment: "test" | "demo" | "prod"
  readonly json: boolean
  readonly strict: boolean
}

/** Checks the files. Fails when one of them is not valid, or has a warning where that counts. */
export const checkFiles = Effect.fnUntraced(function* ({ environment, files, json, strict }: CheckFlags) {
  const checks = yield* FileChecks.make()
  const today = PolishTime.day(yield* Clock.currentTimeMillis)
  let invalid = 0
  let warned = 0
  for (const file of files) {
    const checked = withoutAge(yield* checks.check(file, { today, environment }))
    if (!isValid(checked)) invalid++
    else if (checked.warnings.length > 0) warned++
    if (json) yield* Console.log(JSON.stringify({ ...checked, valid: isValid(checked) }))
    else for (const line of lines(checked)) yield* Console.log(line)
  }
  const all = `${files.length} ${files.length === 1 ? "file" : "files"}`
  if (invalid > 0)
    return yield* new CommandFailure({ message: `${invalid} of ${all} ${invalid === 1 ? "is" : "are"} not valid.` })
  if (strict && warned > 0) return yield* new CommandFailure({ message: `${warned} of ${all} with warnings.` })
})
