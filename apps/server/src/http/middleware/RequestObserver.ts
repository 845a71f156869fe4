/** Observes requests from their head to the head of the response: their metrics, and the access log. */
import { Context, Effect, Exit, type Scope } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import * as AccessLog from "../../observability/AccessLog.ts"
import * as HttpMetrics from "../../observability/HttpMetrics.ts"
import { Settings } from "../../settings/Settings.ts"

type Response<E, R> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

/** The observation of one request. */
export interface RequestObservation {
  /** Reads the route that `routed` was dispatched to. */
  readonly readRoute: <E, R>(routed: Response<E, R>) => Response<E, R>
  /** Completes the observation with the result of `handled`. */
  readonly complete: <E, R>(handled: Response<E, R>) => Response<E, R>
}

const unmatched = "unmatched"

const unobserved: RequestObservation = { readRoute: (routed) => routed, complete: (handled) => handled }

/** Makes the function that begins to observe a request. It does nothing without metrics and access log. */
export const make: Effect.Effect<
  (requestId: string, method: string) => RequestObservation,
  never,
  Scope.Scope | Settings
> = Effect.gen(function* () {
  const { accessLog, metricsPort } = yield* Settings
  if (metricsPort === undefined && accessLog === "off") return () => unobserved
  const metrics = metricsPort === undefined ? undefined : yield* HttpMetrics.make

  return (requestId: string, method: string): RequestObservation => {
    const startedAt = performance.now()
    let route = unmatched
    metrics?.begin()
    return {
      readRoute: (routed) =>
        Effect.onExit(routed, () =>
          Effect.withFiber((fiber) => {
            route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path ?? unmatched
            return Effect.void
          })
        ),
      complete: (handled) =>
        Effect.onExit(handled, (exit) =>
          Effect.suspend(() => {
            const status = Exit.isSuccess(exit) ? exit.value.status : undefined
            const completed = { requestId, method, route, status, milliseconds: performance.now() - startedAt }
            metrics?.complete(completed)
            return AccessLog.includes(accessLog, status) ? AccessLog.write(completed) : Effect.void
          })
        )
    }
  }
})
