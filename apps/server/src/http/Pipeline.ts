/**
 * What happens to every request, whatever it asks for: it gets an identifier, an answer in the one envelope, and a line
 * in the log.
 *
 * @since 0.1.0
 */
import { CurrentRequestId } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Cause, Clock, Context, Effect, LogLevel, References } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Availability from "../database/Availability.ts"
import * as Outage from "../observability/Outage.ts"
import * as NewId from "../security/NewId.ts"
import { Settings } from "../settings/Settings.ts"
import * as Deadline from "./Deadline.ts"
import * as Responses from "./Responses.ts"
import * as Routes from "./Routes.ts"
import * as Target from "./Target.ts"

const isRouteNotFound = (error: unknown): boolean =>
  error instanceof HttpServerError.HttpServerError && error.reason._tag === "RouteNotFound"

const unrouted = (method: string, path: string, requestId: Ids.RequestId): HttpServerResponse.HttpServerResponse => {
  const methods = path === "*" ? Routes.allMethods : Routes.methodsOf(path)
  if (method === "OPTIONS" && methods.length > 0) {
    return HttpServerResponse.empty({ status: 204, headers: { allow: methods.join(", ") } })
  }
  return methods.length === 0 || path === "*"
    ? Responses.problem("not_found", requestId)
    : Responses.problem("method_not_allowed", requestId, { allow: methods.join(", ") })
}

// The client is gone, so there is nobody to answer.
const isAbandoned = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) &&
  cause.reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

const makeAnswerCause =
  (database: Outage.Outage) =>
  (
    cause: Cause.Cause<unknown>,
    { method, path, requestId }: { readonly method: string; readonly path: string; readonly requestId: Ids.RequestId }
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    // The server stops, and waits no longer.
    if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(Responses.problem("service_unavailable", requestId))
    const error = Cause.squash(cause)
    if (isRouteNotFound(error)) return Effect.succeed(unrouted(method, path, requestId))
    if (Availability.isUnavailable(error)) {
      return Effect.as(database.missed(cause), Responses.problem("service_unavailable", requestId))
    }
    return Effect.as(
      Effect.logError("A request failed by a defect", cause),
      Responses.problem("internal_error", requestId)
    )
  }

// Whatever the API has done well, it has done in the database.
const hasMet = ({ status }: HttpServerResponse.HttpServerResponse, method: string): boolean =>
  status < 300 && method !== "OPTIONS"

// What the API says is nobody's but the caller's: it is not kept on the way, unless the answer says otherwise.
const finish = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: Ids.RequestId,
  isApi: boolean
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, {
    "request-id": requestId,
    ...(isApi && response.headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(response.status === 401 ? { "www-authenticate": "Bearer" } : {})
  })

const withRequestId = (requestId: Ids.RequestId) =>
  Effect.provideContext(
    Context.make(CurrentRequestId, requestId).pipe(
      Context.add(References.CurrentLogAnnotations, { request_id: requestId })
    )
  )

/**
 * Layer that puts every request through the pipeline.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { apiEnabled, logLevel } = yield* Settings
    const database = Outage.make({
      away: "The database is not available",
      back: "The database is available again"
    })
    const patience = Outage.make({
      away: `Requests take longer than ${Deadline.requestMs} ms and are given up`,
      back: "Requests are answered in time again"
    })
    const answerCause = makeAnswerCause(database)
    const isLogged = LogLevel.isLessThanOrEqualTo(logLevel, "Debug")

    return (httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const startedAt = yield* Clock.currentTimeMillis
        const requestId = NewId.at("req", startedAt)
        const target = Target.read(request)
        const { method } = request

        const answer = Effect.gen(function* () {
          if (target === undefined) return Responses.problem("malformed_request", requestId)
          const { isApi, path, request } = target
          if (isApi && !apiEnabled) return Responses.problem("api_disabled", requestId)
          const response = yield* Effect.provideService(httpEffect, HttpServerRequest.HttpServerRequest, request).pipe(
            Deadline.within(
              Effect.suspend(() =>
                Effect.as(patience.missed(`${method} ${path}`), Responses.problem("service_unavailable", requestId))
              )
            ),
            Effect.catchCause((cause) =>
              isAbandoned(cause) ? Effect.failCause(cause) : answerCause(cause, { method, path, requestId })
            )
          )
          if (isApi && hasMet(response, method)) {
            yield* database.met
            yield* patience.met
          }
          return response
        })

        const note = (response: HttpServerResponse.HttpServerResponse) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) =>
            Effect.annotateLogs(Effect.logDebug("Request"), {
              method,
              path: target?.path,
              status: response.status,
              milliseconds: now - startedAt
            })
          )

        const response = yield* withRequestId(requestId)(isLogged ? Effect.tap(answer, note) : answer)
        return finish(response, requestId, target?.isApi === true)
      })
  }),
  { global: true }
)
