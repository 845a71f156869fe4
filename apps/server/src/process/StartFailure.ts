/**
 * A start that failed over something that whoever started the server can mend: in words, where a stack would say less.
 * Everything else is reported as it is.
 *
 * @since 0.1.0
 */
import { Cause, Data, Effect, Runtime } from "effect"
import { HttpServerError } from "effect/http"
import { SqlError } from "effect/sql"
import { DataDirInUse } from "../database/DataDirLock.ts"
import type { SettingsShape } from "../settings/Settings.ts"

/**
 * A failure that has been said already. The process ends with 1.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartFailure extends Data.TaggedError("StartFailure")<{ readonly message: string }> {
  override readonly [Runtime.errorReported] = false
}

/**
 * What it was in the end: the driver says that something failed, and the rest stands in the cause of its cause.
 *
 * @category getters
 * @since 0.1.0
 */
export const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.cause === undefined ? cause.message : reasonOf(cause.cause)) : String(cause)

const isOfTheConnection = ({ reason }: SqlError.SqlError): boolean =>
  ["ConnectionError", "AuthenticationError", "AuthorizationError"].includes(reason._tag)

/**
 * What failed and what to do about it, or `undefined` where a stack says more.
 *
 * @category getters
 * @since 0.1.0
 */
export const explain = ({ database }: SettingsShape, error: unknown): string | undefined => {
  if (error instanceof DataDirInUse) return error.message
  if (error instanceof HttpServerError.ServeError) {
    return `The server cannot start: ${reasonOf(error)}\nStop what listens there, or set PORT, GOVOICE_METRICS_PORT or HOST.`
  }
  if (error instanceof SqlError.SqlError && isOfTheConnection(error) && database._tag === "Postgres") {
    return `The database does not answer: ${reasonOf(error)}\nCheck DATABASE_URL, and that Postgres runs. More says: govoice doctor`
  }
  return undefined
}

/**
 * Prints on standard error what can be explained, and lets the rest be reported by whoever runs the program.
 *
 * @category combinators
 * @since 0.1.0
 */
export const inWords =
  (settings: SettingsShape) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartFailure, R> =>
    Effect.catchCause(program, (cause): Effect.Effect<never, E | StartFailure> => {
      const message = Cause.hasInterruptsOnly(cause) ? undefined : explain(settings, Cause.squash(cause))
      if (message === undefined) return Effect.failCause(cause)
      process.stderr.write(`${message}\n`)
      return Effect.fail(new StartFailure({ message }))
    })
