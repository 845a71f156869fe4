/**
 * The `govoice` command as a process: its arguments, its environment, its exit code.
 *
 * @since 0.1.0
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import { govoice } from "../commands/govoice.ts"
import { version } from "../version.ts"

const cli = Layer.mergeAll(
  NodeServices.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  // Standard output is for what was asked for.
  Logger.layer([Logger.withConsoleError(Logger.formatSimple)])
)

const exitCode = <A>(exit: Exit.Exit<A, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  const error = Cause.squash(exit.cause)
  if (CliError.isCliError(error)) return error._tag === "ShowHelp" && error.errors.length === 0 ? 0 : 2
  if (!(error instanceof Error) || CliError.getUserMessage(error) === undefined) console.error(Cause.pretty(exit.cause))
  return 1
}

const fiber = Effect.runFork(Command.run(govoice(process.env), { version }).pipe(Effect.provide(cli), Effect.scoped))

const interrupt = () => fiber.interruptUnsafe(fiber.id)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt)

fiber.addObserver((exit) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt)
  // `serve` has started the server by now, which has a life of its own.
  const code = exitCode(exit)
  if (code !== 0) process.exit(code)
})
