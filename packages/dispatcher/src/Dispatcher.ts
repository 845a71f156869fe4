/**
 * Sends HTTP requests to addresses that strangers chose.
 *
 * The service and the layer are the Effect face. `makeDispatcher` is the same with promises; neither is the lesser one.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Engine } from "./internal/engine.ts"
import type { DispatcherOptions } from "./Options.ts"
import type { Outcome } from "./Outcome.ts"
import type { DispatchRequest } from "./Request.ts"

/**
 * Service that makes one safe attempt to deliver a request.
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /**
     * Makes one attempt.
     *
     * **Details**
     *
     * The error channel is empty: whatever the target does is an `Outcome`. A request that must not be sent, and one after
     * the scope has closed, is a defect: `DispatcherError`. Interruption closes the connection, or leaves the lookup.
     */
    readonly send: (request: DispatchRequest) => Effect.Effect<Outcome>
  }
>()("@govoice/dispatcher/Dispatcher") {
  /**
   * Makes a dispatcher that is closed with its scope. Attempts that run then are interrupted.
   *
   * **Details**
   *
   * Options that cannot be read are a defect: `DispatcherError` with the code `invalid_options`.
   *
   * @category constructors
   * @since 0.1.0
   */
  static readonly make = (options: DispatcherOptions = {}): Effect.Effect<Dispatcher["Service"], never, Scope.Scope> =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new Engine(options)),
        (engine) => Effect.sync(() => engine.destroy())
      ),
      (engine) => Dispatcher.of({ send: sendWith(engine) })
    )

  /**
   * Provides a dispatcher.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly layer = (options: DispatcherOptions = {}): Layer.Layer<Dispatcher> =>
    Layer.effect(Dispatcher, Dispatcher.make(options))
}

const sendWith =
  (engine: Engine) =>
  (request: DispatchRequest): Effect.Effect<Outcome> =>
    Effect.callback<Outcome>((resume) => {
      try {
        const cancel = engine.start(request, (outcome, error) =>
          resume(error === undefined ? Effect.succeed(outcome) : Effect.die(error))
        )
        return Effect.sync(cancel)
      } catch (error) {
        resume(Effect.die(error))
        return undefined
      }
    })
