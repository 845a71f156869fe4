/** `govoice check-invoice`: checks invoice documents without a server and without a network. */
import { Argument, Command, Flag } from "effect/cli"
import { load } from "./load.ts"

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
  (flags) =>
    load(
      () => import("./checkInvoice/checkFiles.ts"),
      ({ checkFiles }) => checkFiles(flags)
    )
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
