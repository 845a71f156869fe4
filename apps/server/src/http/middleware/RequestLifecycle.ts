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

const makeLifecycle = Effect.gen(function* () {
  const { apiEnabled, consoleEnabled, http, logLevel, trustedProxies } = yield* Settings
  const timeoutLog = ThrottledLog.make({
    down: `Requests exceed ${RequestTimeout.requestMs} ms and are answered with service_unavailable`,
    recovered: "Requests are answered in time again"
  })
  return {
    apiEnabled,
    consoleEnabled,
    routes: Routes.make({ consoleEnabled }),
    directory: yield* Directory,
    clients: ClientAddress.make(trustedProxies),
    isServed: LocalHosts.make(http.host),
    noteStranger: yield* ProxyWarning.make,
    unread: UnreadAnswers.make(unreadMemory),
    timeoutLog,
    noteSuccess: Effect.andThen(OutageLog.success, timeoutLog.success),
    observe: yield* RequestObserver.make,
    isLogged: LogLevel.isLessThanOrEqualTo(logLevel, "Debug")
  }
})

type Lifecycle = Effect.Success<typeof makeLifecycle>

/** A request, and what is known of it before it is routed. */
interface Incoming {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly requestId: Ids.RequestId
  readonly target: Target.Target | undefined
  readonly isApi: boolean
  readonly isConsole: boolean
  /** The address of the connection, and whether it is that of a trusted proxy. */
  readonly peer: string | undefined
  readonly isForwarded: boolean
}

const read = (
  { clients, consoleEnabled }: Lifecycle,
  request: HttpServerRequest.HttpServerRequest,
  startedAt: number
): Incoming => {
  const target = Target.read(request)
  const isConsole = consoleEnabled && target?.isConsole === true
  const peer = Option.getOrUndefined(request.remoteAddress)
  return {
    request,
    requestId: IdGenerator.at("req", startedAt),
    target,
    isApi: target?.isApi === true || (isConsole && target.isConsoleSession),
    isConsole,
    peer,
    isForwarded: peer !== undefined && clients.isProxy(peer)
  }
}

const route = <E, R>(
  { clients, noteSuccess, routes, timeoutLog }: Lifecycle,
  { isApi, isForwarded, peer, request, requestId }: Incoming,
  target: Target.Target,
  routed: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => {
  const { method } = request
  const { path } = target
  const routable = isForwarded && peer !== undefined ? withClientAddress(clients, target.request, peer) : target.request
  const timedOut = Effect.suspend(() =>
    Effect.as(timeoutLog.failure(`${method} ${path}`), Responses.problem("service_unavailable", requestId))
  )
  const answered = (
    routable === request ? routed : Effect.provideService(routed, HttpServerRequest.HttpServerRequest, routable)
  ).pipe(
    RequestTimeout.withTimeout(routable, timedOut),
    Effect.catchCause((cause) =>
      isAbandoned(cause) ? Effect.failCause(cause) : answerCause(cause, routes, { method, path, requestId })
    )
  )
  return isApi && mayWrite(method)
    ? Effect.tap(answered, ({ status }) => (status < 300 ? noteSuccess : Effect.void))
    : answered
}

const refuse = (
  { apiEnabled, directory, isServed }: Lifecycle,
  { isApi, isForwarded, request, requestId }: Incoming,
  target: Target.Target
): HttpServerResponse.HttpServerResponse | undefined => {
  if (!isForwarded && !isServed(request.headers["host"])) return refuseHost(requestId, request)
  if (isApi && !apiEnabled) return Responses.problem("api_disabled", requestId)
  // A proxy that does not know yet where the organization has moved learns it from the header.
  const otherCell = directory?.otherCellOf(request.method, target.plainPath, request.headers["authorization"])
  return otherCell === undefined ? undefined : Responses.problem("wrong_cell", requestId, { "gov-cell": otherCell })
}

const answer = <E, R>(
  lifecycle: Lifecycle,
  incoming: Incoming,
  routed: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.suspend(() => {
    const { isApi, isForwarded, peer, request, requestId, target } = incoming
    if (target === undefined) return Effect.succeed(Responses.problem("malformed_request", requestId))
    const refusal = refuse(lifecycle, incoming, target)
    if (refusal !== undefined) return Effect.succeed(refusal)
    const routing = route(lifecycle, incoming, target, routed)
    return isForwarded || !isApi ? routing : Effect.andThen(lifecycle.noteStranger(peer, request.headers), routing)
  })

// Continuations instead of generators, and a service is provided only if it differs: every request runs through here.
const handle = <E, R>(
  lifecycle: Lifecycle,
  httpEffect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  request: HttpServerRequest.HttpServerRequest,
  clock: Clock.Clock
) => {
  const { clients, isLogged, observe, unread } = lifecycle
  const startedAt = clock.currentTimeMillisUnsafe()
  const incoming = read(lifecycle, request, startedAt)
  const { isForwarded, peer, requestId, target } = incoming
  const { method } = request
  const observation = observe(requestId, method)

  const note = ({ status }: HttpServerResponse.HttpServerResponse) =>
    Effect.annotateLogs(Effect.logDebug("Request"), {
      method,
      path: target?.path,
      status,
      milliseconds: clock.currentTimeMillisUnsafe() - startedAt
    })

  const answered = answer(lifecycle, incoming, observation.readRoute(httpEffect))
  const traced = RequestTracing.trace(request, target?.path)(observation.complete(answered))
  return Effect.map(withRequestId(requestId)(isLogged ? Effect.tap(traced, note) : traced), (response) => {
    const written = nodeResponseOf(request)
    const address = isForwarded && peer !== undefined ? clients.find(peer, request.headers) : peer
    if (written !== undefined) unread.add(written, bytesOf(response), address)
    return finish(response, requestId, incoming)
  })
}

/** Adds the identifier, the error responses and the log line to all requests. */
export const layer = HttpRouter.middleware(
  Effect.map(
    makeLifecycle,
    (lifecycle) => (httpEffect) =>
      Effect.clockWith((clock) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => handle(lifecycle, httpEffect, request, clock))
      )
  ),
  { global: true }
)
