/** Checks the documents of files, and prints the violations of each. */
import { Violation } from "@govoice/ksef/checks"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Console, Effect } from "effect"
import * as FileChecks from "../../invoices/checks/FileChecks.ts"
import { CommandFailure } from "../CommandFailure.ts"

const isValid = ({ count, error }: FileChecks.CheckedFile): boolean => error === undefined && count === 0

const lines = (checked: FileChecks.CheckedFile): ReadonlyArray<string> => {
  const { count, error, file, form, violations } = checked
  const name = file === FileChecks.stdin ? "standard input" : Violation.escaped(file)
  if (error !== undefined) return [`✖ ${name}`, `    ${error}`]
  if (count === 0) return [form === undefined ? `✔ ${name}  FA (2), not checked` : `✔ ${name}  ${form}`]
  const rest = count - violations.length
  return [
    `✖ ${name}${form === undefined ? "" : `  ${form}`}`,
    ...violations.map((violation) => `    ${Violation.line(violation)}`),
    ...(rest === 0 ? [] : [`    ${rest} more ${rest === 1 ? "violation is" : "violations are"} not shown.`])
  ]
}

interface CheckFlags {
  readonly files: ReadonlyArray<string>
  readonly environment: "test" | "demo" | "prod"
  readonly json: boolean
}

/** Checks the files. Fails when one of them is not valid. */
export const checkFiles = Effect.fnUntraced(function* ({ environment, files, json }: CheckFlags) {
  const checks = yield* FileChecks.make()
  const today = PolishTime.day(yield* Clock.currentTimeMillis)
  let invalid = 0
  for (const file of files) {
    const checked = yield* checks.check(file, { today, acceptsFa2: environment === "test" })
    if (!isValid(checked)) invalid++
    if (json) yield* Console.log(JSON.stringify({ ...checked, valid: isValid(checked) }))
    else for (const line of lines(checked)) yield* Console.log(line)
  }
  if (invalid > 0) {
    return yield* new CommandFailure({
      message: `${invalid} of ${files.length} ${files.length === 1 ? "file" : "files"} not valid.`
    })
  }
})
