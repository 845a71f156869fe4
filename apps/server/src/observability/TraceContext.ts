/**
 * One trace from the request that submits an invoice to the webhooks about it, through the database: the events and
 * invoices carry the `traceparent` of the request (W3C Trace Context).
 */
import { Context, Effect, Option, type Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/** Whether traces are exported. Otherwise no trace context is stored. */
export const Exported = Context.Reference<boolean>("@govoice/server/observability/Trace/Exported", {
  defaultValue: () => false
})

/** Returns the trace context of the current span as `traceparent`, or `null` if it is not exported. */
export const current: Effect.Effect<string | null> = Effect.gen(function* () {
  if (!(yield* Exported)) return null
  const span = yield* Effect.option(Effect.currentSpan)
  return Option.match(span, {
    onNone: () => null,
    onSome: (span) => (span.sampled ? (HttpTraceContext.toHeaders(span)["traceparent"] ?? null) : null)
  })
})

/** Runs an effect in a span where traces are exported. `Effect.fn` makes an `Error` for each call, exported or not. */
export const withSpan =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> =>
    Effect.flatMap(Exported, (isExported) =>
      isExported ? Effect.withSpan(effect, name) : (effect as Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>)
    )

/** Runs an effect within a stored trace context. */
export const under = <A, E, R>(effect: Effect.Effect<A, E, R>, trace: string | null): Effect.Effect<A, E, R> => {
  if (trace === null) return effect
  return Option.match(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent: trace })), {
    onNone: () => effect,
    onSome: (parent) => Effect.withParentSpan(effect, parent) as Effect.Effect<A, E, R>
  })
}
