/** Serves the metrics of the process to Prometheus, and its probes, on a port of their own that need not be public. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Metric } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import type { Server } from "node:http"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import { Settings } from "../settings/Settings.ts"
import { version } from "../version.ts"
import { observeGauge } from "./observedMetrics.ts"

/** Serves the metrics. In a deployment of several cells, every sample has the label `cell`. */
const layerMetrics = (cell: string | undefined) =>
  cell === undefined
    ? PrometheusMetrics.layerHttp()
    : Layer.effectDiscard(
        Effect.flatMap(HttpRouter.HttpRouter, (router) =>
          router.add(
            "GET",
            "/metrics",
            Effect.map(PrometheusMetrics.format(), (text) =>
              HttpServerResponse.text(withCell(text, cell), { contentType: "text/plain; version=0.0.4; charset=utf-8" })
            )
          )
        )
      )

// The lines of samples begin with a name, and those of descriptions with `#`.
const withCell = (text: string, cell: string): string =>
  text.replaceAll(
    /^([a-zA-Z_:][\w:]*)(\{?)/gm,
    (_, name: string, labels: string) => `${name}{cell="${cell}"${labels === "" ? "}" : ","}`
  )

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

// Its value is 1: the labels are what it tells.
const buildInfo = (role: string) =>
  Metric.gauge("govoice_build_info", {
    description: "Version, role and Node.js of the process",
    attributes: { version, role, node: process.versions.node }
  })

/** What the server of the metrics serves, and with which server of Node. */
interface Options<R> {
  readonly fromStart: FromStart
  readonly probes: Layer.Layer<never, never, R>
  readonly makeServer: () => Server
}

/** Serves `GET /metrics` and the routes of `probes` on the port of the settings, if there is one. */
export const layer = <R>({ fromStart, makeServer, probes }: Options<R>) =>
  Layer.unwrap(
    Effect.map(Settings, ({ cell, http, metricsPort, role }) =>
      metricsPort === undefined
        ? Layer.empty
        : HttpRouter.serve(Layer.merge(layerMetrics(cell?.name), probes), {
            disableLogger: true,
            disableListenLog: true
          }).pipe(
            Layer.merge(announce),
            Layer.merge(Layer.effectDiscard(observeGauge(buildInfo(role), () => 1))),
            Layer.merge(exportFromStart(fromStart)),
            Layer.merge(ProcessMetrics.layer),
            Layer.provide(NodeHttpServer.layer(makeServer, { host: http.host, port: metricsPort }))
          )
    )
  )
