/**
 * The Effect API: a service that sends HTTP requests to URLs that strangers chose. `makeDispatcher` is the same with promises.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { DispatchEngine } from "./internal/dispatchEngine.ts"
import { sendWithSpan } from "./internal/send.ts"
import { readSettings, type Settings } from "./internal/settings.ts"
import type { DispatcherOptions } from "./Options.ts"
import type { Outcome } from "./Outcome.ts"
import type { DispatchRequest } from "./Request.ts"

/**
 * Service that makes one attempt to send a request.
 *
 * **Example** (Delivering an event)
 *
 * ```ts
 * import { Dispatcher } from "@govoice/dispatcher"
 * import * as Effect from "effect/Effect"
 *
 * const deliver = Effect.gen(function* () {
 *   const dispatcher = yield* Dispatcher
 *   return yield* dispatcher.send({ url: "https://example.com/hook", body: '{"id":"evt_1"}' })
 * })
 *
 * deliver.pipe(Effect.provide(Dispatcher.layer({ deadlineMs: 5_000 })), Effect.runPromise)
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatcher extends Context.Service<
  Dispatcher,
  {
    /**
     * Makes one attempt, in a span `Dispatcher.send`.
     *
     * **Details**
     *
     * The error channel is empty: everything that a receiver does is an `Outcome`. A request that must not be sent, and one
     * after the scope was closed, is a defect: a `DispatcherError`. Interruption closes the connection or leaves the lookup
     * before it ends.
     *
     * **Gotchas**
     *
     * Deadlines use the clock of the machine. `TestClock` does not move them.
     */
    readonly send: (request: DispatchRequest) => Effect.Effect<Outcome>
  }
>()("@govoice/dispatcher/Dispatcher") {
  /**
   * Creates a dispatcher for the life of the scope. Closing the scope interrupts attempts in flight and closes all
   * connections.
   *
   * **Details**
   *
   * An option with an invalid value is a defect: a `DispatcherError` with the code `invalid_options`. So is an option that does
   * not exist: a `TypeError`.
   *
   * @category constructors
   * @since 0.1.0
   */
  static readonly make = (
    options: DispatcherOptions = {}
  ): Effect.Effect<Dispatcher["Service"], never, Scope.Scope> => {
    let settings: Settings
    try {
      // Before the effect runs, so that the stack of a mistake contains the caller.
      settings = readSettings(options)
    } catch (error) {
      return Effect.die(error)
    }
    return Effect.context().pipe(
      Effect.flatMap((context) =>
        Effect.acquireRelease(
          Effect.sync(() => new DispatchEngine(settings, context)),
          (engine) => Effect.sync(() => engine.destroy())
        )
      ),
      Effect.map((engine) => Dispatcher.of({ send: sendWithSpan(engine) }))
    )
  }

  /**
   * Provides a dispatcher. See `make`.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly layer = (options: DispatcherOptions = {}): Layer.Layer<Dispatcher> =>
    Layer.effect(Dispatcher, Dispatcher.make(options))
}
