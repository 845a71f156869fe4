/** Serves the metrics of the process to Prometheus, on a port of their own that need not be public. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, type Metric } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import { Settings } from "../settings/Settings.ts"

const announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.logInfo(`Metrics are served at ${HttpServer.formatAddress(address)}/metrics`)
  )
)

const exportFromStart = (metrics: FromStart) =>
  Layer.effectDiscard(
    Effect.map(Effect.context(), (context) => {
      for (const metric of metrics) metric.valueUnsafe(context)
    })
  )

/** Metrics that are exported with the value 0 from the start. */
type FromStart = ReadonlyArray<Metric.Metric<number, unknown>>

/** Serves `GET /metrics` on the port of the settings, if there is one. */
export const layer = (fromStart: FromStart) =>
  Layer.unwrap(
    Effect.map(Settings, ({ http, metricsPort }) =>
      metricsPort === undefined
        ? Layer.empty
        : HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
            Layer.merge(announce),
            Layer.merge(exportFromStart(fromStart)),
            Layer.merge(ProcessMetrics.layer),
            Layer.provide(NodeHttpServer.layer(() => createServer(), { host: http.host, port: metricsPort }))
          )
    )
  )
