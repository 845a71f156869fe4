/**
 * The access log: one line for each request, with its method, route, status, duration and identifier.
 *
 * It has no path, query, body, header or address: a route is the template of a path.
 */
import { Effect, References } from "effect"
import type { Values } from "../settings/definitions.ts"
import type { CompletedRequest } from "./HttpMetrics.ts"

/** Which requests are logged. */
export type Mode = Values["GOVOICE_ACCESS_LOG"]

// A client that closes the connection leaves a request without a status.
const isError = (status: number | undefined): boolean => status === undefined || status >= 400

/** Returns whether a mode logs a request with this status. */
export const includes = (mode: Mode, status: number | undefined): boolean =>
  mode === "all" || (mode === "errors" && isError(status))

/** Writes the line of a request. The log level does not apply. */
export const write = ({ method, milliseconds, requestId, route, status }: CompletedRequest): Effect.Effect<void> =>
  Effect.logInfo("Request completed").pipe(
    Effect.provideService(References.CurrentLogAnnotations, {
      request_id: requestId,
      method,
      route,
      status: status ?? "aborted",
      duration_ms: Math.round(milliseconds * 10) / 10
    }),
    Effect.provideService(References.MinimumLogLevel, "Info")
  )
