/** Gives every request an identifier, a response in the envelope of errors, and a line in the log. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { CurrentRequestId } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { Cause, type Clock, Context, Effect, LogLevel, Option, References } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerResponse } from "node:http"
import * as OutageLog from "../../database/OutageLog.ts"
import { Directory, RowNotReplicated } from "../../cells/Directory.ts"
import * as SqlErrors from "../../database/SqlErrors.ts"
import * as ThrottledLog from "../../observability/ThrottledLog.ts"
import * as IdGenerator from "../../crypto/IdGenerator.ts"
import { Settings } from "../../settings/Settings.ts"
import * as RequestObserver from "./RequestObserver.ts"
import * as RequestTracing from "./RequestTracing.ts"
import * as RequestTimeout from "./RequestTimeout.ts"
import * as Responses from "../Responses.ts"
import * as Routes from "../Routes.ts"
import * as ClientAddress from "../transport/ClientAddress.ts"
import * as LocalHosts from "../transport/LocalHosts.ts"
import * as ProxyWarning from "./ProxyWarning.ts"
import * as Target from "../transport/RequestTarget.ts"
import * as UnreadAnswers from "../transport/UnreadAnswers.ts"

const isRouteNotFound = (error: unknown): boolean =>
  error instanceof HttpServerError.HttpServerError && error.reason._tag === "RouteNotFound"

const unrouted = (
  { methodsOf, allMethods }: Routes.Routes,
  method: string,
  path: string,
  requestId: Ids.RequestId
): HttpServerResponse.HttpServerResponse => {
  const methods = path === "*" ? allMethods : methodsOf(path)
  if (method === "OPTIONS" && methods.length > 0) {
    return HttpServerResponse.empty({ status: 204, headers: { allow: methods.join(", ") } })
  }
  return methods.length === 0 || path === "*"
    ? Responses.problem("not_found", requestId)
    : Responses.problem("method_not_allowed", requestId, { allow: methods.join(", ") })
}

// The client closed the connection.
const isAbandoned = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterruptsOnly(cause) &&
  cause.reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

const answerCause = (
  cause: Cause.Cause<unknown>,
  routes: Routes.Routes,
  { method, path, requestId }: { readonly method: string; readonly path: string; readonly requestId: Ids.RequestId }
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  // Requests are interrupted when the server stops.
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(Responses.problem("service_unavailable", requestId))
  const error = Cause.squash(cause)
  if (isRouteNotFound(error)) return Effect.succeed(unrouted(routes, method, path, requestId))
  // An account can name rows that never arrive, so that these are no fault for the log.
  if (SqlErrors.isMoved(error) || error instanceof RowNotReplicated) {
    return Effect.succeed(Responses.problem("service_unavailable", requestId))
  }
  return Effect.as(
    OutageLog.report(cause, Effect.logError("Request failed with a defect", cause)),
    Responses.problem(SqlErrors.isTransient(error) ? "service_unavailable" : "internal_error", requestId)
  )
}

const refused = (...problem: Parameters<typeof Responses.problem>) => Effect.succeed(Responses.problem(...problem))

const refuseHost = (
  requestId: Ids.RequestId,
  { headers }: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse =>
  Responses.problem("malformed_request", requestId, {}, { message: LocalHosts.refusal(headers["host"] ?? "") })

// A write that succeeded implies that the database was reachable. A read may be answered from a cache.
const mayWrite = (method: string): boolean => method !== "GET" && method !== "HEAD" && method !== "OPTIONS"

// Responses of the API are not stored on the way, unless they say otherwise.
const finish = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: Ids.RequestId,
  { isApi, isConsole }: { readonly isApi: boolean; readonly isConsole: boolean }
): HttpServerResponse.HttpServerResponse => {
  const { headers, status } = response
  return HttpServerResponse.setHeaders(response, {
    ...Responses.securityHeaders,
    "request-id": requestId,
    ...(headers["content-security-policy"] === undefined
      ? {}
      : { "content-security-policy": headers["content-security-policy"] }),
    ...(isConsole ? Responses.consoleHeaders : {}),
    ...(isApi && headers["cache-control"] === undefined ? { "cache-control": "no-store" } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {})
  })
}

// Behind a trusted proxy, the address of a request is that of the client.
const withClientAddress = (
  clients: ClientAddress.ClientAddresses,
  request: HttpServerRequest.HttpServerRequest,
  peer: string
): HttpServerRequest.HttpServerRequest =>
  request.modify({ remoteAddress: Option.some(clients.find(peer, request.headers)) })

// As much as the documents that arrive may take. Pages and files are in memory once for all requests, but the system has a copy
// for each connection that does not read.
const unreadMemory = { maxBytes: 48 * 1024 * 1024, smallBytes: 4 * 1024 }

const nodeResponseOf = (request: HttpServerRequest.HttpServerRequest): ServerResponse | undefined => {
  const response = NodeHttpServerRequest.toServerResponse(request)
  return response instanceof ServerResponse ? response : undefined
}

// The longest head of an answer, about.
const headBytes = 1024

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): number =>
  headBytes + (body._tag === "Uint8Array" ? body.contentLength : 0)

// Two additions. `Effect.provideContext` would copy the context.
const withRequestId =
  (requestId: Ids.RequestId) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateContext(effect, (context: Context.Context<R>) =>
      context.pipe(
        Context.add(CurrentRequestId, requestId),
        Context.add(References.CurrentLogAnnotations, { request_id: requestId })
      )
    )

/** Adds the identifier, the error responses and the log line to all requests. */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const { apiEnabled, consoleEnabled, http, logLevel, trustedProxies } = yield* Settings
    const routes = Routes.make({ consoleEnabled })
    const directory = yield* Directory
    const clients = ClientAddress.make(trustedProxies)
    const isServed = LocalHosts.make(http.host)
    const noteStranger = yield* ProxyWarning.make
    const unread = UnreadAnswers.make(unreadMemory)
    const countUnread = (
      request: HttpServerRequest.HttpServerRequest,
      response: HttpServerResponse.HttpServerResponse,
      address: string | undefined
    ): void => {
      const answer = nodeResponseOf(request)
      if (answer !== undefined) unread.add(answer, bytesOf(response), address)
    }
    const timeoutLog = ThrottledLog.make({
      down: `Requests exceed ${RequestTimeout.requestMs} ms and are answered with service_unavailable`,
      recovered: "Requests are answered in time again"
    })
    const observe = yield* RequestObserver.make
    const isLogged = LogLevel.isLessThanOrEqualTo(logLevel, "Debug")

    const timedOut = (method: string, path: string, requestId: Ids.RequestId) =>
      Effect.suspend(() =>
        Effect.as(timeoutLog.failure(`${method} ${path}`), Responses.problem("service_unavailable", requestId))
      )
    const noteSuccess = Effect.andThen(OutageLog.success, timeoutLog.success)

    // Continuations instead of generators, and a service is provided only if it differs: every request runs through here.
    const handle = <E, R>(
      httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
      request: HttpServerRequest.HttpServerRequest,
      clock: Clock.Clock
    ) => {
      const startedAt = clock.currentTimeMillisUnsafe()
      const requestId = IdGenerator.at("req", startedAt)
      const target = Target.read(request)
      const { method } = request
      const observation = observe(requestId, method)
      const isConsole = consoleEnabled && target?.isConsole === true
      const isApi = target?.isApi === true || (isConsole && target.isConsoleSession)
      const peer = Option.getOrUndefined(request.remoteAddress)
      const isForwarded = peer !== undefined && clients.isProxy(peer)

      const route = (target: Target.Target) => {
        const { path } = target
        const routable = isForwarded ? withClientAddress(clients, target.request, peer) : target.request
        const routed = observation.readRoute(httpEffect)
        const answered = (
          routable === request ? routed : Effect.provideService(routed, HttpServerRequest.HttpServerRequest, routable)
        ).pipe(
          RequestTimeout.withTimeout(routable, timedOut(method, path, requestId)),
          Effect.catchCause((cause) =>
            isAbandoned(cause) ? Effect.failCause(cause) : answerCause(cause, routes, { method, path, requestId })
          )
        )
        return isApi && mayWrite(method)
          ? Effect.tap(answered, ({ status }) => (status < 300 ? noteSuccess : Effect.void))
          : answered
      }
      const answer = Effect.suspend(() => {
        if (target === undefined) return refused("malformed_request", requestId)
        if (!isForwarded && !isServed(request.headers["host"])) return Effect.succeed(refuseHost(requestId, request))
        if (isApi && !apiEnabled) return refused("api_disabled", requestId)
        // A proxy that does not know yet where the organization has moved learns it from the header.
        const otherCell = directory?.otherCellOf(method, target.plainPath, request.headers["authorization"])
        if (otherCell !== undefined) return refused("wrong_cell", requestId, { "gov-cell": otherCell })
        return isForwarded || !isApi
          ? route(target)
          : Effect.andThen(noteStranger(peer, request.headers), route(target))
      })

      const note = (response: HttpServerResponse.HttpServerResponse) =>
        Effect.annotateLogs(Effect.logDebug("Request"), {
          method,
          path: target?.path,
          status: response.status,
          milliseconds: clock.currentTimeMillisUnsafe() - startedAt
        })

      const traced = RequestTracing.trace(request, target?.path)(observation.complete(answer))
      return Effect.map(withRequestId(requestId)(isLogged ? Effect.tap(traced, note) : traced), (response) => {
        countUnread(request, response, isForwarded ? clients.find(peer, request.headers) : peer)
        return finish(response, requestId, { isApi, isConsole })
      })
    }

    return (httpEffect) =>
      Effect.clockWith((clock) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => handle(httpEffect, request, clock))
      )
  }),
  { global: true }
)
