/** `govoice check-invoice`: checks invoice documents without a server and without a network. */
import { InvoiceXml } from "@govoice/core"
import { DocumentChecker, Violation } from "@govoice/ksef/checks"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { createReadStream } from "node:fs"
import * as InvoiceDocument from "../invoices/xml/InvoiceDocument.ts"
import { Failure } from "./Failure.ts"

/** The result for one file. */
interface Checked extends Violation.Report {
  readonly file: string
  /** Why the file was not checked: it cannot be read, or is no text in UTF-8. */
  readonly error?: string
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const stdin = "-"

// Reads no further than a byte over the limit, so that the rest of a large file costs nothing.
const readStart = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    length += chunk.length
    if (length > InvoiceXml.maxBytes) break
  }
  return Buffer.concat(chunks)
}

const readXml = async (file: string): Promise<string> => {
  const bytes = await readStart(file === stdin ? process.stdin : createReadStream(file))
  // The limit is checked with the text, and the cut may divide a character.
  if (bytes.length > InvoiceXml.maxBytes) return "x".repeat(InvoiceXml.maxBytes + 1)
  try {
    return decoder.decode(bytes)
  } catch {
    throw new Error("The file is not UTF-8.")
  }
}

// The sentences of the API begin with the name of its parameter.
const withoutSubject = (message: string): string => message.replace(/^invoice_xml /, "").replace(/\.$/, "")

const atStart = (message: string): Violation.Report => ({
  form: undefined,
  violations: [{ line: 1, column: 1, path: undefined, message: withoutSubject(message) }],
  count: 1
})

const checkOne = (
  checker: DocumentChecker.DocumentChecker,
  file: string,
  options: DocumentChecker.CheckOptions
): Effect.Effect<Checked> =>
  Effect.tryPromise(() => readXml(file)).pipe(
    Effect.map((xml): Checked => {
      const outerFault = InvoiceXml.fault(xml)
      if (outerFault !== undefined) return { file, ...atStart(outerFault) }
      const { fault } = InvoiceDocument.read(xml)
      const position = fault === undefined ? undefined : /^(.*) \(line (\d+), column (\d+)\)\.$/s.exec(fault)
      if (position !== undefined && position !== null) {
        const [, message = "", line, column] = position
        const violation = {
          line: Number(line),
          column: Number(column),
          path: undefined,
          message: withoutSubject(message)
        }
        return { file, form: undefined, violations: [violation], count: 1 }
      }
      return { file, ...checker.check(xml, options) }
    }),
    Effect.catch(({ cause }) =>
      Effect.succeed({ file, form: undefined, violations: [], count: 0, error: reason(cause) })
    )
  )

const reason = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  if (code === "ENOENT") return "The file does not exist."
  if (code === "EISDIR") return "This is a directory. Name the files in it."
  if (code === "EACCES") return "The file must not be read by this user."
  return cause instanceof Error ? cause.message : String(cause)
}

const isValid = ({ count, error }: Checked): boolean => error === undefined && count === 0

const lines = (checked: Checked): ReadonlyArray<string> => {
  const { count, error, file, form, violations } = checked
  const name = file === stdin ? "standard input" : Violation.escaped(file)
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
    const checker = yield* Effect.promise(() => DocumentChecker.load())
    const today = PolishTime.day(yield* Clock.currentTimeMillis)
    let invalid = 0
    for (const file of files) {
      const checked = yield* checkOne(checker, file, { today, acceptsFa2: environment === "test" })
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
