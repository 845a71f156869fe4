/**
 * The span of a request: the root of a trace of its own. A `traceparent` of the client becomes a link, because a stranger
 * decides neither what is sampled nor which trace a request belongs to.
 */
import { Effect, Option } from "effect"
import { type HttpServerRequest, type HttpServerResponse, HttpTraceContext } from "effect/http"
import * as TraceContext from "../../observability/TraceContext.ts"

/** Runs the handling of a request in its span. The attributes name the path without its query. */
export const trace =
  (request: HttpServerRequest.HttpServerRequest, path: string | undefined) =>
  <E, R>(
    handled: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
    Effect.flatMap(TraceContext.Exported, (isExported) => {
      if (!isExported) return handled
      const remote = Option.toArray(HttpTraceContext.fromHeaders(request.headers))
      return handled.pipe(
        Effect.tap(({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)),
        Effect.withSpan(request.method, {
          kind: "server",
          root: true,
          links: remote.map((span) => ({ span, attributes: {} })),
          attributes: { "http.request.method": request.method, ...(path === undefined ? {} : { "url.path": path }) }
        })
      ) as Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    })
