/** One attempt of an engine as an Effect. */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import type { AttemptDiagnostics } from "../Options.ts"
import type { Outcome } from "../Outcome.ts"
import type { DispatchRequest } from "../Request.ts"
import type { Engine } from "./engine.ts"

// Calls back in a microtask, without what Node keeps a record of for each `queueMicrotask`.
const resolved = Promise.resolve()

type Observe = (diagnose: () => AttemptDiagnostics) => void

export const send = (engine: Engine, request: DispatchRequest, observe?: Observe): Effect.Effect<Outcome> =>
  Effect.callback<Outcome>((resume) => {
    // Not at once: this is called from inside of undici's parser, and what the fiber does next could enter it again.
    const later = (effect: Effect.Effect<Outcome>) => void resolved.then(() => resume(effect))
    try {
      const cancel = engine.start(request, {
        onOutcome: (outcome, diagnose) => {
          observe?.(diagnose)
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

/** The same in a span, where somebody receives spans: the native tracer keeps them to itself. */
export const sendWithSpan =
  (engine: Engine) =>
  (request: DispatchRequest): Effect.Effect<Outcome> =>
    Effect.flatMap(Effect.tracer, (tracer) =>
      tracer === Tracer.nativeTracer
        ? send(engine, request)
        : Effect.useSpan("Dispatcher.send", { kind: "client" }, (span) =>
            send(engine, request, span.sampled ? (diagnose) => annotate(span, diagnose()) : undefined)
          )
    )

/** Names of the OpenTelemetry conventions where there is one. Neither path nor query: they can hold secrets. */
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
