/** Starts the server from environment variables, and runs it until a signal stops it. */
import { Effect, Layer, type Scope } from "effect"
import { reasonOf } from "../observability/reasonOf.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { broadNetworks } from "../settings/trustedProxies.ts"
import {
  InvalidSettings,
  read,
  settingsRemedy,
  type SettingsShape,
  unknownNames,
  unknownNameWarning
} from "../settings/Settings.ts"
import { version } from "../version.ts"
import { banner, storage } from "./banner.ts"
import * as logging from "./logging.ts"
import * as LogStreams from "./LogStreams.ts"
import { runUntilShutdown } from "./runUntilShutdown.ts"
import * as Server from "./Server.ts"
import * as SharedLookups from "./sharedLookups.ts"
import { reportStartupError } from "./StartupError.ts"
import { disablePretenuring, disableWasmOptimization, limitHeapGrowth } from "./v8Flags.ts"

// A stop ends within the webhook deadline plus five seconds.
const graceMs = ({ webhooks }: SettingsShape): number => webhooks.timeoutMs + 4900

const readOrExit = (env: EnvironmentVariables): SettingsShape => {
  try {
    return read(env)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    process.stderr.write([error.message, ...unknownNames(env).map(unknownNameWarning), ""].join("\n"))
    return process.exit(1)
  }
}

const warnOfUnknown = (env: EnvironmentVariables) =>
  Effect.forEach(unknownNames(env), (name) => Effect.logWarning(`${unknownNameWarning(name)} ${settingsRemedy}`), {
    discard: true
  })

const warnOfBroadProxies = ({ trustedProxies }: SettingsShape) =>
  Effect.forEach(
    broadNetworks(trustedProxies),
    (network) =>
      Effect.logWarning(
        `GOVOICE_TRUSTED_PROXIES contains ${network}: clients there choose the address that their limits count under`
      ),
    { discard: true }
  )

/** What is done when the server listens on a URL. */
type OnListening = (url: string) => Effect.Effect<void, unknown, Scope.Scope>

const announce = (settings: SettingsShape, onListening: OnListening | undefined) =>
  Effect.gen(function* () {
    const { url } = yield* Server.Listening
    const started = Effect.annotateLogs(Effect.logInfo("Server started"), {
      version,
      role: settings.role,
      data: storage(settings),
      ...(url === undefined ? {} : { url })
    })
    // On a terminal, what follows says the same.
    if (!process.stdout.isTTY || !process.stderr.isTTY) yield* started
    if (onListening !== undefined && url !== undefined) yield* onListening(url)
    else process.stderr.write(banner(settings, url))
  })

// The first frame of the stack is the place of the fault.
const placeOf = (error: unknown): string | undefined =>
  error instanceof Error ? /^ +at (.+)$/m.exec(error.stack ?? "")?.[1] : undefined

const reportFault = (settings: SettingsShape) => (error: unknown) =>
  Effect.runSync(
    Effect.annotateLogs(Effect.logFatal("Server stopped because of an uncaught exception"), {
      reason: reasonOf(error),
      place: placeOf(error)
    }).pipe(Effect.provide(logging.layer(settings)))
  )

const reportStop = (settings: SettingsShape) => (signal: NodeJS.Signals) =>
  Effect.runSync(
    Effect.annotateLogs(Effect.logInfo("Server stopping"), { signal, grace_ms: graceMs(settings) }).pipe(
      Effect.provide(logging.layer(settings))
    )
  )

/**
 * Runs the server. Invalid settings are printed and exit with 1, and so does everything else that prevents a start.
 * So does an uncaught exception, after workers had a second to write their completions.
 *
 * `settings` are those of the environment, for a caller that has read them: the file of a secret can be a pipe.
 *
 * Standard output has log lines only, and the server goes on where they cannot be written; the banner and the reason of a failed start go to standard error. With `onListening`, that
 * runs in place of the banner, and a failure of it stops the server.
 */
export const serve = (
  env: EnvironmentVariables,
  settings: SettingsShape = readOrExit(env),
  onListening?: OnListening
): void => {
  LogStreams.keepServing()
  SharedLookups.install()
  disablePretenuring()
  if (settings.database._tag === "Embedded") disableWasmOptimization()
  if (settings.liveMode) limitHeapGrowth()

  Layer.effectDiscard(announce(settings, onListening)).pipe(
    Layer.provide(Server.layer(settings)),
    Layer.launch,
    (server) => Effect.andThen(Effect.andThen(warnOfUnknown(env), warnOfBroadProxies(settings)), server),
    reportStartupError(settings),
    Effect.provide(logging.layer(settings)),
    runUntilShutdown({ graceMs: graceMs(settings), onFault: reportFault(settings), onStop: reportStop(settings) })
  )
}
