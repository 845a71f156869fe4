/** One attempt of an engine as an Effect. */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import type { AttemptDiagnostics } from "../Options.ts"
import type { Outcome } from "../Outcome.ts"
import type { DispatchRequest } from "../Request.ts"
import type { DispatchEngine } from "./dispatchEngine.ts"
import { ignoreErrors } from "./ignoreErrors.ts"
import type { Prepared } from "./request.ts"

// Calls back in a microtask, without the bookkeeping of `queueMicrotask` for each call.
const resolved = Promise.resolve()

type Observe = (diagnose: () => AttemptDiagnostics) => void

export const send = (engine: DispatchEngine, request: Prepared, observe?: Observe): Effect.Effect<Outcome> =>
  Effect.callback<Outcome>((resume) => {
    // Deferred: the observer is called inside of undici's parser, which the fiber must not enter again, and where an error of
    // the tracer would abort the request.
    const later = (effect: Effect.Effect<Outcome>) => void resolved.then(() => resume(effect))
    try {
      const cancel = engine.start(request, {
        onOutcome: (outcome, diagnose) => {
          if (observe !== undefined) void resolved.then(() => ignoreErrors(() => observe(diagnose)))
          later(Effect.succeed(outcome))
        },
        onDefect: (error) => later(Effect.die(error)),
        onDestroyed: () => later(Effect.interrupt)
      })
      return Effect.sync(cancel)
    } catch (error) {
      resume(Effect.die(error))
      return undefined
    }
  })

/** Like `send`, in a span where a tracer receives spans: the native tracer exports none. */
export const sendWithSpan =
  (engine: DispatchEngine) =>
  (request: DispatchRequest): Effect.Effect<Outcome> => {
    let prepared: Prepared
    try {
      // Before the effect runs, so that the stack of a mistake contains the caller.
      prepared = engine.prepare(request)
    } catch (error) {
      return Effect.die(error)
    }
    return Effect.flatMap(Effect.tracer, (tracer) =>
      tracer === Tracer.nativeTracer
        ? send(engine, prepared)
        : Effect.useSpan("Dispatcher.send", { kind: "client" }, (span) =>
            send(engine, prepared, span.sampled ? (diagnose) => annotate(span, diagnose()) : undefined)
          )
    )
  }

/** Uses the names of the OpenTelemetry conventions where there is one. Path and query are left out: they can hold secrets. */
const annotate = (span: Tracer.Span, diagnostics: AttemptDiagnostics): void => {
  const { address, addressesTried, code, hostname, outcome, phase, port, reusedConnection, rule, status } = diagnostics
  const attributes = {
    "server.address": hostname,
    "server.port": port,
    "network.peer.address": address,
    "http.response.status_code": status,
    "error.type": code ?? rule,
    "dispatcher.outcome": outcome,
    "dispatcher.phase": phase,
    "dispatcher.addresses_tried": addressesTried,
    "dispatcher.reused_connection": reusedConnection
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) span.attribute(name, value)
  }
  for (const [name, value] of Object.entries(diagnostics.timings)) {
    if (value !== undefined) span.attribute(`dispatcher.${name}`, value)
  }
}
