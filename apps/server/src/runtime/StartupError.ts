/** A start that failed for a reason that an operator can correct, reported in one line. */
import { Cause, Data, Effect } from "effect"
import { HttpServerError } from "effect/http"
import { explain as explainDatabase } from "../database/explain.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import type { SettingsShape } from "../settings/Settings.ts"

/** A failure that has been reported. */
export class StartupError extends Data.TaggedError("StartupError")<{ readonly message: string }> {}

/** Returns the remedy for an error of listening. */
export const listenRemedy = (error: unknown): string => {
  const { code } = error as NodeJS.ErrnoException
  if (code === "EADDRINUSE") return "Stop the process that uses the address, or set PORT, GOVOICE_METRICS_PORT or HOST."
  if (code === "EACCES")
    return "Set PORT and GOVOICE_METRICS_PORT to ports that this user may use, such as those from 1024."
  return "Set HOST to an address of this machine."
}

/** Returns what failed and what to do, or `undefined` for a defect. */
export const explain = ({ database }: SettingsShape, error: unknown): string | undefined =>
  error instanceof HttpServerError.ServeError
    ? `The server cannot listen: ${reasonOf(error)}. ${listenRemedy(error.cause)}`
    : explainDatabase(database, error)

/** Writes failures that an operator can correct to standard error, and logs every other one with its cause. */
export const reportStartupError =
  (settings: SettingsShape) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
    Effect.catchCause(program, (cause): Effect.Effect<never, E | StartupError> => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      const message = explain(settings, Cause.squash(cause))
      if (message === undefined) {
        return Effect.andThen(Effect.logError("Server stopped because of a defect", cause), Effect.failCause(cause))
      }
      process.stderr.write(`${message}\n`)
      return Effect.fail(new StartupError({ message }))
    })
