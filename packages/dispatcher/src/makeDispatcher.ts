/**
 * The promise API of the dispatcher.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { DispatchEngine } from "./internal/dispatchEngine.ts"
import { send } from "./internal/send.ts"
import { readSettings } from "./internal/settings.ts"
import type { DispatcherOptions } from "./Options.ts"
import type { Outcome } from "./Outcome.ts"
import type { DispatchRequest } from "./Request.ts"

/**
 * A dispatcher with promises.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseDispatcher extends AsyncDisposable {
  /**
   * Makes one attempt. Resolves with its outcome: nothing that a receiver does rejects it.
   *
   * **Details**
   *
   * Rejects with a `DispatcherError` for a request that must not be sent (`invalid_request`) and after `close` (`closed`).
   * When `signal` is aborted it rejects with the reason of the signal, and the connection is closed.
   */
  readonly send: (request: DispatchRequest, options?: { readonly signal?: AbortSignal | undefined }) => Promise<Outcome>

  /**
   * Lets attempts in flight end within their deadlines, then closes all connections. Further calls return the same promise.
   */
  readonly close: () => Promise<void>
}

/**
 * Creates a dispatcher. Keep one for the life of the program, so that connections are used again.
 *
 * **Example** (Delivering an event)
 *
 * ```ts
 * import { makeDispatcher } from "@govoice/dispatcher"
 *
 * const dispatcher = makeDispatcher({ deadlineMs: 5_000 })
 * const outcome = await dispatcher.send({ url: "https://example.com/hook", body: '{"id":"evt_1"}' })
 * if (outcome._tag !== "Delivered" && outcome.retryable) console.log("Retry later.")
 * ```
 *
 * @throws {DispatcherError} `invalid_options` for an option with an invalid value.
 * @throws {TypeError} for an option that does not exist.
 * @category constructors
 * @since 0.1.0
 */
export const makeDispatcher = (options: DispatcherOptions = {}): PromiseDispatcher => {
  const engine = new DispatchEngine(readSettings(options), Context.empty())
  const close = () => engine.close()
  return {
    send: async (request, { signal } = {}) => {
      signal?.throwIfAborted()
      // Before any effect runs, so that the stack of a mistake contains the caller.
      const prepared = engine.prepare(request)
      try {
        return await Effect.runPromise(send(engine, prepared), signal === undefined ? undefined : { signal })
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      }
    },
    close,
    [Symbol.asyncDispose]: close
  }
}
