/** The `govoice` command as a process: its arguments, its environment, its exit code. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Logger } from "effect"
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import { version } from "../version.ts"
import { CommandFailure } from "./CommandFailure.ts"
import { govoice } from "./govoice.ts"
import * as output from "./output.ts"

const cli = Layer.mergeAll(
  NodeServices.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  output.layer(process.env),
  Layer.succeed(Console.Console)(output.console),
  // Standard output is for results.
  Logger.layer([Logger.withConsoleError(Logger.formatSimple)])
)

const exitCode = <A>(exit: Exit.Exit<A, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  const error = Cause.squash(exit.cause)
  if (CliError.isCliError(error)) return error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : 2
  output.console.error(error instanceof CommandFailure ? error.message : Cause.pretty(exit.cause))
  return 1
}

// Other programs have help as a command, which the names of another follow.
const args = process.argv[2] === "help" ? [...process.argv.slice(3), "--help"] : process.argv.slice(2)

const fiber = Effect.runFork(
  Command.runWith(govoice(process.env), { version })(args).pipe(Effect.provide(cli), Effect.scoped)
)

const interrupt = () => fiber.interruptUnsafe(fiber.id)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt)

fiber.addObserver((exit) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt)
  // `serve` has started a server by now, which goes on after its command.
  const code = exitCode(exit)
  if (code !== 0) process.exit(code)
})
