/** The log: pretty on a terminal, JSON lines everywhere else. Nothing else is written to standard output. */
import { Console, Layer, Logger, References } from "effect"
import type { SettingsShape } from "../settings/Settings.ts"

// White, in which the logger prints times and labels, cannot be read on a light background.
const withoutWhite = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\u001b[37m", "") : value

const terminal: Console.Console = Object.assign(Object.create(globalThis.console) as Console.Console, {
  log: (...values: ReadonlyArray<unknown>) => globalThis.console.log(...values.map(withoutWhite))
})

export const layer = ({ logLevel }: SettingsShape): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([process.stdout.isTTY ? Logger.consolePretty() : Logger.consoleJson]),
    process.stdout.isTTY ? Layer.succeed(Console.Console)(terminal) : Layer.empty,
    Layer.succeed(References.MinimumLogLevel)(logLevel)
  )
