/** Exports traces to an OpenTelemetry collector, or disables tracing. */
import { Cause, Effect, Layer, References } from "effect"
import { FetchHttpClient, HttpClient, HttpMiddleware } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { SettingsShape } from "../settings/Settings.ts"
import { version } from "../version.ts"
import * as ThrottledLog from "./ThrottledLog.ts"
import * as TraceContext from "./TraceContext.ts"

// Without an exporter, spans would cost as much as with one.
const off = Layer.mergeAll(Layer.succeed(References.TracerEnabled)(false), Layer.succeed(TraceContext.Exported)(false))

const withinMs = 5000

/**
 * A client with a deadline. The exporter begins an export for every thousand spans, and keeps them until it ends; after one that fails it
 * drops spans for a minute. One that missed its deadline is a defect, because the exporter would retry an error.
 */
const layerClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    const log = ThrottledLog.make({ down: "Traces are not exported", recovered: "Traces are exported again" })
    return client.pipe(
      HttpClient.filterStatusOk,
      HttpClient.transformResponse((response) =>
        response.pipe(
          Effect.tap((answer) => answer.arrayBuffer),
          Effect.timeout(withinMs),
          Effect.catchTag("TimeoutError", () =>
            Effect.die(new Error(`The collector has not answered within ${withinMs / 1000} s`))
          ),
          Effect.tap(log.success),
          Effect.tapCause((cause) => (Cause.hasInterrupts(cause) ? Effect.void : log.failure(Cause.squash(cause))))
        )
      )
    )
  })
).pipe(Layer.provide(FetchHttpClient.layer))

const exported = (endpoint: string, role: string) =>
  OtlpTracer.layer({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    resource: { serviceName: "govoice", serviceVersion: version, attributes: { "govoice.role": role } }
  }).pipe(
    Layer.provide([OtlpSerialization.layerJson, layerClient]),
    Layer.merge(Layer.succeed(TraceContext.Exported)(true)),
    // The HTTP server creates the span of a request: Effect's span would continue the trace of the client and have the query.
    Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen)(() => true))
  )

/** Layer that configures tracing by the settings. */
export const layer = ({ otlpEndpoint, role }: SettingsShape): Layer.Layer<never> =>
  otlpEndpoint === undefined ? off : Layer.effectContext(Layer.build(exported(otlpEndpoint, role)))
