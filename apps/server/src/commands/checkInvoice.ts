/** `govoice check-invoice`: checks invoice documents without a server and without a network. */
import { Violation } from "@govoice/ksef/checks"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as FileChecks from "../invoices/checks/FileChecks.ts"
import { Failure } from "./Failure.ts"

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

export const checkInvoice = Command.make(
  "check-invoice",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("Files with one document each. `-` reads standard input."),
      Argument.atLeast(1)
    ),
    environment: Flag.Literals("environment", ["test", "demo", "prod"]).pipe(
      Flag.withDescription("Environment of KSeF whose forms are accepted. `test` accepts FA (2) unchecked, too."),
      Flag.withDefault("prod")
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print one JSON object for each file."),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ environment, files, json }) {
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
      return yield* new Failure({
        message: `${invalid} of ${files.length} ${files.length === 1 ? "file" : "files"} not valid.`
      })
    }
  })
).pipe(
  Command.withDescription(
    "Check invoice documents as the server checks those of live keys: well-formed XML, form, rules of KSeF, XML schema. Works offline. Each violation is printed with line, column and path. Exits with 1 when a file is not valid. KSeF decides about everything else: permissions, duplicates, sums."
  ),
  Command.withShortDescription("Check invoice documents offline."),
  Command.withExamples([
    { command: "govoice check-invoice invoice.xml", description: "Check one document" },
    { command: "govoice check-invoice --json out/*.xml", description: "Check many, for a program" }
  ])
)
