/** Exports traces to an OpenTelemetry collector, or disables tracing. */
import { Layer, References } from "effect"
import { FetchHttpClient, HttpMiddleware } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { SettingsShape } from "../settings/Settings.ts"
import { version } from "../version.ts"
import * as TraceContext from "./TraceContext.ts"

// Without an exporter, spans would cost as much as with one.
const off = Layer.mergeAll(Layer.succeed(References.TracerEnabled)(false), Layer.succeed(TraceContext.Exported)(false))

const exported = (endpoint: string, role: string) =>
  OtlpTracer.layer({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    resource: { serviceName: "govoice", serviceVersion: version, attributes: { "govoice.role": role } }
  }).pipe(
    Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
    Layer.merge(Layer.succeed(TraceContext.Exported)(true)),
    // The HTTP server creates the span of a request: Effect's span would continue the trace of the client and have the query.
    Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen)(() => true))
  )

/** Layer that configures tracing by the settings. */
export const layer = ({ otlpEndpoint, role }: SettingsShape): Layer.Layer<never> =>
  otlpEndpoint === undefined ? off : Layer.effectContext(Layer.build(exported(otlpEndpoint, role)))
