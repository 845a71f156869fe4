/** The context of a request is copied for each of them, so it has only what a request reads. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Logger, References, Schema, Scope, Tracer } from "effect"
import { HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware } from "effect/http-api"
import { createServer } from "node:http"
import * as RequestContext from "../../src/http/RequestContext.ts"
import * as TraceContext from "../../src/observability/TraceContext.ts"

class Greeting extends Context.Service<Greeting, string>()("test/Greeting") {}
class Counted extends HttpApiMiddleware.Service<Counted>()("test/Counted") {}

const api = HttpApi.make("test").add(
  HttpApiGroup.make("test").add(
    HttpApiEndpoint.get("keys", "/keys", { success: Schema.Array(Schema.String) }).middleware(Counted)
  )
)

let counted = 0
const layerCounted = Layer.succeed(Counted)((handled) => Effect.tap(handled, () => Effect.sync(() => counted++)))

const handlers = RequestContext.group(
  api,
  "test",
  Effect.fnUntraced(function* (handlers) {
    const greeting = yield* Greeting
    return handlers.handle("keys", () =>
      Effect.contextWith((context: Context.Context<never>) => Effect.succeed([greeting, ...context.mapUnsafe.keys()]))
    )
  })
)

const layer = HttpRouter.toHttpEffect(HttpApiBuilder.layer(api).pipe(Layer.provide(handlers))).pipe(
  Effect.flatMap(RequestContext.serve),
  Layer.effectDiscard,
  Layer.provide([layerCounted, Layer.succeed(Greeting)("hello")]),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provide([
    Layer.effectContext(Effect.map(Clock.Clock, (clock) => Context.make(Clock.Clock, clock))),
    Layer.succeed(HttpMiddleware.TracerDisabledWhen)(() => true),
    Layer.succeed(Logger.CurrentLoggers)(new Set()),
    Layer.succeed(References.MinimumLogLevel)("Warn"),
    Layer.succeed(References.TracerEnabled)(true),
    Layer.succeed(TraceContext.Exported)(true),
    Layer.succeed(Tracer.Tracer)(Tracer.make({ span: (options) => new Tracer.NativeSpan(options) }))
  ])
)

/** All that a request of a route has. A service that is not here is copied for each request. */
const allowed = [
  Clock.Clock.key,
  HttpMiddleware.TracerDisabledWhen.key,
  Logger.CurrentLoggers.key,
  References.MinimumLogLevel.key,
  References.TracerEnabled.key,
  TraceContext.Exported.key,
  Tracer.Tracer.key,
  // Of the request and its route.
  Scope.Scope.key,
  HttpServerRequest.HttpServerRequest.key,
  HttpServerRequest.ParsedSearchParams.key,
  HttpRouter.RouteContext.key,
  Counted.key,
  // Of Effect, which exports no key of the first.
  "effect/http/HttpEffect/CurrentRequestState",
  Layer.CurrentMemoMap.key
]

describe("the context of a request", () => {
  it.live("has what Effect reads, and no service of the server", () =>
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const response = yield* Effect.promise(() => fetch(`${HttpServer.formatAddress(address)}/keys`))
      assert.strictEqual(response.status, 200)
      const keys = (yield* Effect.promise(() => response.json())) as ReadonlyArray<string>
      assert.strictEqual(counted, 1)
      assert.strictEqual(keys[0], "hello")
      assert.sameMembers(keys.slice(1), allowed)
      assert.notInclude(keys, Greeting.key)
      assert.notInclude(keys, HttpServer.HttpServer.key)
    }).pipe(Effect.provide(layer))
  )
})
