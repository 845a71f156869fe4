/**
 * Keeps the context of a request small. Effect copies the services that a server is started with, and those that its routes
 * are built with, for each request. With all 57 of this server, that took an eighth of the processor time of a lookup
 * (`bench/api/RESULTS.md`). Services and references are read when handlers and stores are built: in a request, a service is
 * missing, and a reference has its default.
 */
import { Clock, Context, Effect, Layer, Logger, References, Scope, Tracer } from "effect"
import { HttpMiddleware, HttpServer, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as TraceContext from "../observability/TraceContext.ts"

interface AnyApi {
  readonly groups: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, AnyEndpoint>> }>>
}
interface AnyEndpoint {
  readonly middlewares: Iterable<Context.Key<never, unknown>>
}
type AnyBuild = (handlers: unknown) => Effect.Effect<unknown, unknown, unknown>
type Group<R> = (api: AnyApi, name: string, build: AnyBuild) => Layer.Layer<unknown, unknown, R>

// The types of Effect name the groups and endpoints of one API. Here they would only be passed on.
const buildGroup = HttpApiBuilder.group as unknown as Group<Scope.Scope>
const groupWithMiddleware: Group<unknown> = (api, name, build) => {
  const middleware = Object.values(api.groups[name]!.endpoints).flatMap(({ middlewares }) => [...middlewares])
  const ofRoutes = Context.pick(Scope.Scope, ...middleware)
  return Layer.effectContext(
    Effect.contextWith((services: Context.Context<unknown>) =>
      Layer.build(buildGroup(api, name, (handlers) => Effect.provideContext(build(handlers), services))).pipe(
        Effect.updateContext((context: Context.Context<unknown>) => ofRoutes(context))
      )
    )
  )
}

/**
 * `HttpApiBuilder.group` whose handlers are built with all services, and whose routes with their middleware alone. `build` has to
 * be an effect, and middleware must not require services of each request: the types allow both. They are those of Effect, so that
 * handlers are checked as before.
 */
export const group = groupWithMiddleware as unknown as typeof HttpApiBuilder.group

// References that Effect reads itself, and the one of ours that is read for each request.
const references = [
  Clock.Clock,
  HttpMiddleware.TracerDisabledWhen,
  Logger.CurrentLoggers,
  References.MinimumLogLevel,
  References.TracerEnabled,
  TraceContext.Exported,
  Tracer.Tracer
] as const

/** Serves an application whose requests need no service but their scope. */
export const serve = <E>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpServerRequest.HttpServerRequest | Scope.Scope>
): Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> =>
  Effect.flatMap(HttpServer.HttpServer, (server) =>
    Effect.updateContext(server.serve(app), (context: Context.Context<Scope.Scope>) =>
      Context.pick(Scope.Scope, ...references)(context)
    )
  )
