/** Serves the metrics of the process to Prometheus, on a port of their own that need not be public. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import { Settings } from "../settings/Settings.ts"

const announce = Layer.effectDiscard(
  Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
    Effect.logInfo(`Metrics are served at ${HttpServer.formatAddress(address)}/metrics`)
  )
)

/** Serves `GET /metrics` on the port of the settings, if there is one. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ http, metricsPort }) =>
    metricsPort === undefined
      ? Layer.empty
      : HttpRouter.serve(PrometheusMetrics.layerHttp(), { disableLogger: true, disableListenLog: true }).pipe(
          Layer.merge(announce),
          Layer.provide(NodeHttpServer.layer(() => createServer(), { host: http.host, port: metricsPort }))
        )
  )
)
