/**
 * Starts the server from an environment and keeps it up until somebody asks it to stop.
 *
 * @since 0.1.0
 */
import { Effect, Layer } from "effect"
import * as Server from "../Server.ts"
import { InvalidSettings, read, type SettingsShape, unknownNames } from "../settings/Settings.ts"
import { banner } from "./banner.ts"
import { beginYoung } from "./garbage.ts"
import * as logging from "./logging.ts"
import { runMain } from "./runMain.ts"
import { inWords } from "./StartFailure.ts"

type Environment = Readonly<Record<string, string | undefined>>

// A stop ends within the webhook deadline plus five seconds.
const graceMs = ({ webhooks }: SettingsShape): number => webhooks.timeoutMs + 4900

const readOrExit = (environment: Environment): SettingsShape => {
  try {
    return read(environment)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(1)
  }
}

const warnOfUnknown = (environment: Environment) =>
  Effect.forEach(unknownNames(environment), (name) => Effect.logWarning(`${name} is not a setting of Govoice`))

/**
 * Runs the server. Settings that cannot be used are printed, all of them, and end the process with 1. So does a database that
 * does not answer, and an address that is taken.
 *
 * @category running
 * @since 0.1.0
 */
export const serve = (environment: Environment): void => {
  beginYoung()
  const settings = readOrExit(environment)

  const started = Layer.effectDiscard(
    Effect.gen(function* () {
      yield* warnOfUnknown(environment)
      const { url } = yield* Server.Listening
      process.stdout.write(banner(settings, url))
    })
  )

  started.pipe(
    Layer.provide(Server.layer(settings)),
    Layer.provide(logging.layer(settings)),
    Layer.launch,
    inWords(settings),
    runMain(graceMs(settings))
  )
}
