/**
 * How the process logs: for a person at a terminal, as JSON lines for everything else.
 *
 * @since 0.1.0
 */
import { Layer, Logger, References } from "effect"
import type { SettingsShape } from "../settings/Settings.ts"

/**
 * Layer that sets up the log.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ logLevel }: SettingsShape): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([process.stdout.isTTY ? Logger.consolePretty() : Logger.consoleJson]),
    Layer.succeed(References.MinimumLogLevel)(logLevel)
  )
