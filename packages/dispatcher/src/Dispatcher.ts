/**
 * Sends HTTP requests to addresses that strangers chose.
 *
 * The service and its layer are the Effect face. `makeDispatcher` is the same with promises; neither is the lesser one.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Engine } from "./internal/engine.ts"
import { sendWithSpan } from "./internal/send.ts"
import type { DispatcherOptions } from "./Options.ts"
import type { Outcome } from "./Outcome.ts"
import type { DispatchRequest } from "./Request.ts"

/**
 * Service that makes one safe attempt to deliver a request.
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
     * The error channel is empty: whatever the target does is an `Outcome`. A request that must not be sent is a defect, a
     * `DispatcherError`; so is one after the scope was closed. Interruption closes the connection or leaves the lookup
     * before it ends.
     *
     * **Gotchas**
     *
     * Deadlines run by the clock of the machine, as sockets do. `TestClock` does not move them.
     */
    readonly send: (request: DispatchRequest) => Effect.Effect<Outcome>
  }
>()("@govoice/dispatcher/Dispatcher") {
  /**
   * Makes a dispatcher that lives as long as the scope. When that closes, attempts that are under way are interrupted and
   * all connections closed.
   *
   * **Details**
   *
   * Options that cannot be read are a defect: a `DispatcherError` with the code `invalid_options`.
   *
   * @category constructors
   * @since 0.1.0
   */
  static readonly make = (options: DispatcherOptions = {}): Effect.Effect<Dispatcher["Service"], never, Scope.Scope> =>
    Effect.context().pipe(
      Effect.flatMap((context) =>
        Effect.acquireRelease(
          Effect.sync(() => new Engine(options, context)),
          (engine) => Effect.sync(() => engine.destroy())
        )
      ),
      Effect.map((engine) => Dispatcher.of({ send: sendWithSpan(engine) }))
    )

  /**
   * Provides a dispatcher. See `make`.
   *
   * @category layers
   * @since 0.1.0
   */
  static readonly layer = (options: DispatcherOptions = {}): Layer.Layer<Dispatcher> =>
    Layer.effect(Dispatcher, Dispatcher.make(options))
}
