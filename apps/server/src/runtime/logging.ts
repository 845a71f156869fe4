/** The log: pretty on a terminal, JSON lines everywhere else. Nothing else is written to standard output. */
import { Layer, Logger, References } from "effect"
import type { SettingsShape } from "../settings/Settings.ts"

export const layer = ({ logLevel }: SettingsShape): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([process.stdout.isTTY ? Logger.consolePretty() : Logger.consoleJson]),
    Layer.succeed(References.MinimumLogLevel)(logLevel)
  )
