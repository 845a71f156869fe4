/** Sends traces to where OpenTelemetry is collected, or makes none. */
import { Layer, References } from "effect"
import { FetchHttpClient, HttpMiddleware } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { SettingsShape } from "../settings/Settings.ts"
import { version } from "../version.ts"
import * as TraceContext from "./TraceContext.ts"

// Spans that nobody looks at cost as much as those that somebody does.
const off = Layer.mergeAll(Layer.succeed(References.TracerEnabled)(false), Layer.succeed(TraceContext.Exported)(false))

const exported = (endpoint: string, role: string) =>
  OtlpTracer.layer({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    resource: { serviceName: "govoice", serviceVersion: version, attributes: { "govoice.role": role } }
  }).pipe(
    Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
    Layer.merge(Layer.succeed(TraceContext.Exported)(true)),
    // The HTTP server makes the span of a request itself: that of Effect has the client's trace as parent, and the query.
    Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen)(() => true))
  )

/** Layer that traces as the settings say. */
export const layer = ({ otlpEndpoint, role }: SettingsShape): Layer.Layer<never> =>
  otlpEndpoint === undefined ? off : Layer.effectContext(Layer.build(exported(otlpEndpoint, role)))
