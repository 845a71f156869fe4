/**
 * The metrics of HTTP requests.
 *
 * A route is the template of a path, so the number of series is fixed. A duration ends with the head of the response.
 */
import { type Context, Effect, Metric, type Scope } from "effect"
import { observeGauge } from "./observedMetrics.ts"

/** A request that has ended. */
export interface CompletedRequest {
  readonly requestId: string
  readonly method: string
  /** The template of the path; `unmatched` if no route has it. */
  readonly route: string
  /** `undefined` if the client closed the connection before the response. */
  readonly status: number | undefined
  readonly milliseconds: number
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

const inFlight = Metric.gauge("govoice_http_requests_in_flight", {
  description: "HTTP requests in flight in this process"
})

/** The class of a status; `aborted` if the client closed the connection before there was one. */
export const statusClass = (status: number | undefined): string =>
  status === undefined ? "aborted" : `${Math.floor(status / 100)}xx`

interface RouteMetrics {
  readonly duration: Metric.Histogram<number>
  readonly requests: Map<string, Metric.Counter<number>>
}

const makeRouteMetrics = (method: string, route: string): RouteMetrics => ({
  duration: Metric.histogram("govoice_http_request_duration_seconds", {
    description: "Duration of HTTP requests until the head of the response, by route",
    attributes: { method, route },
    boundaries
  }),
  requests: new Map()
})

const makeCounter = (method: string, route: string, status: string): Metric.Counter<number> =>
  Metric.counter("govoice_http_requests_total", {
    description: "HTTP requests, by route, method and class of the status",
    attributes: { method, route, status },
    incremental: true
  })

/** Records the requests of a process. */
export interface HttpMetrics {
  readonly begin: () => void
  readonly complete: (request: CompletedRequest) => void
}

/** Makes the metrics of a process. They are exported until the scope closes. */
export const make: Effect.Effect<HttpMetrics, never, Scope.Scope> = Effect.gen(function* () {
  const context: Context.Context<never> = yield* Effect.context()
  const routes = new Map<string, RouteMetrics>()
  let requests = 0
  yield* observeGauge(inFlight, () => requests)

  return {
    begin: () => {
      requests++
    },
    complete: ({ method: given, milliseconds, route, status }) => {
      requests--
      const method = knownMethods.has(given) ? given : "other"
      const key = `${method} ${route}`
      let metrics = routes.get(key)
      if (metrics === undefined) routes.set(key, (metrics = makeRouteMetrics(method, route)))
      const result = statusClass(status)
      let counter = metrics.requests.get(result)
      if (counter === undefined) metrics.requests.set(result, (counter = makeCounter(method, route, result)))
      counter.updateUnsafe(1, context)
      metrics.duration.updateUnsafe(milliseconds / 1000, context)
    }
  }
})
