/**
 * What happens to every request, whatever it asks for: it gets an identifier, an answer in the one envelope, and a line
 * in the log.
 *
 * @since 0.1.0
 */
import { CurrentRequestId } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Cause, Clock, Effect } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import * as NewId from "../security/NewId.ts"
import { Settings } from "../settings/Settings.ts"
import * as Responses from "./Responses.ts"
import * as Routes from "./Routes.ts"

const pathOf = (url: string): string => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

const isRouteNotFound = (error: unknown): boolean =>
  error instanceof HttpServerError.HttpServerError && error.reason._tag === "RouteNotFound"

// Whatever the database says when it is away, restarting, or cannot take another connection.
const isUnavailable = (error: unknown): boolean =>
  error instanceof SqlError.SqlError && (error.isRetryable || error.reason._tag === "ConnectionError")

const unrouted = (method: string, path: string, requestId: Ids.RequestId): HttpServerResponse.HttpServerResponse => {
  const methods = Routes.methodsOf(path)
  if (methods.length === 0) return Responses.problem("not_found", requestId)
  const allow = { allow: methods.join(", ") }
  return method === "OPTIONS"
    ? HttpServerResponse.empty({ status: 204, headers: allow })
    : Responses.problem("method_not_allowed", requestId, allow)
}

const answerCause = (
  cause: Cause.Cause<unknown>,
  { method, url }: HttpServerRequest.HttpServerRequest,
  requestId: Ids.RequestId
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const error = Cause.squash(cause)
  if (isRouteNotFound(error)) return Effect.succeed(unrouted(method, pathOf(url), requestId))
  if (isUnavailable(error)) {
    return Effect.as(
      Effect.logWarning("The database is not available", cause),
      Responses.problem("service_unavailable", requestId)
    )
  }
  return Effect.as(
    Effect.logError("A request failed by a defect", cause),
    Responses.problem("internal_error", requestId)
  )
}

/**
 * Layer that puts every request through the pipeline.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { apiEnabled } = yield* Settings

    return (httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const startedAt = yield* Clock.currentTimeMillis
        const requestId = NewId.at("req", startedAt)
        const path = pathOf(request.url)

        const answer = Effect.suspend(() => {
          if (!isDecodable(path)) return Effect.succeed(Responses.problem("malformed_request", requestId))
          if (!apiEnabled && /^\/v1(\/|$)/.test(path)) return Effect.succeed(Responses.problem("api_disabled", requestId))
          return httpEffect
        }).pipe(
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : answerCause(cause, request, requestId)
          ),
          Effect.provideService(CurrentRequestId, requestId)
        )

        const response = yield* answer
        const milliseconds = (yield* Clock.currentTimeMillis) - startedAt
        yield* Effect.logDebug("Request").pipe(
          Effect.annotateLogs({ method: request.method, path, status: response.status, milliseconds })
        )
        return HttpServerResponse.setHeader(response, "request-id", requestId)
      })
  }),
  { global: true }
)
