/**
 * The dispatcher of the quarantine process, as a `Dispatcher`. `send` dies with `QuarantineInterruption` when the process
 * ended during the request.
 */
import { Dispatcher, DispatcherError, type Outcome } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"
import { QuarantineProcess } from "../jobs/QuarantineProcess.ts"

/** Layer that provides `Dispatcher` in quarantine. */
export const layer: Layer.Layer<Dispatcher, never, QuarantineProcess> = Layer.effect(
  Dispatcher,
  Effect.map(QuarantineProcess, ({ call }) => ({
    send: (request) =>
      Effect.map(call("send", request), (outcome) => outcome as Outcome).pipe(
        Effect.catchTag("QuarantineCallError", (error) =>
          Effect.die(error.code === "invalid_request" ? new DispatcherError("invalid_request", error.message) : error)
        ),
        Effect.orDie
      )
  }))
)
