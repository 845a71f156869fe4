/** Writes the help of every command, with colors, into the folder of the bundle, which is the argument. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { CliOutput, Command } from "effect/cli"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { builtIns } from "./src/commands/builtIns.ts"
import { govoice } from "./src/commands/govoice.ts"
import { fileName } from "./src/commands/preparedHelp.ts"
import { version } from "./src/version.ts"

const namesBelow = ({ subcommands }: Command.Command.Any): ReadonlyArray<ReadonlyArray<string>> => [
  [],
  ...subcommands.flatMap(({ commands }) =>
    commands.flatMap((command) => namesBelow(command).map((names) => [command.name, ...names]))
  )
]

const command = govoice({})

const services = Layer.mergeAll(
  NodeServices.layer,
  builtIns,
  CliOutput.layer(CliOutput.defaultFormatter({ colors: true }))
)

const helpOf = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    yield* Command.runWith(command, { version })([...names, "--help"]).pipe(
      Effect.provide(services),
      Effect.provideService(Console.Console, { ...console, log: (line: string) => void lines.push(line) }),
      Effect.scoped
    )
    return [names.join(" "), lines.join("\n")] as const
  })

const texts = await Effect.runPromise(Effect.forEach(namesBelow(command), helpOf))
writeFileSync(join(process.argv[2]!, fileName), JSON.stringify(Object.fromEntries(texts)))
