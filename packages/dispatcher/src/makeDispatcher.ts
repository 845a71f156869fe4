/**
 * The dispatcher with promises.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Engine } from "./internal/engine.ts"
import { send } from "./internal/send.ts"
import type { DispatcherOptions } from "./Options.ts"
import type { Outcome } from "./Outcome.ts"
import type { DispatchRequest } from "./Request.ts"

/**
 * Makes safe attempts to deliver requests.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseDispatcher extends AsyncDisposable {
  /**
   * Makes one attempt. Resolves with its outcome, whatever the target does.
   *
   * **Details**
   *
   * Rejects with a `DispatcherError` for a request that must not be sent (`invalid_request`) and after `close` (`closed`).
   * When `signal` is aborted it rejects with the reason of the signal, and the connection is closed.
   */
  readonly send: (request: DispatchRequest, options?: { readonly signal?: AbortSignal | undefined }) => Promise<Outcome>

  /**
   * Lets the attempts that were begun end within their deadlines, then closes all connections. Further calls give the same
   * promise.
   */
  readonly close: () => Promise<void>
}

/**
 * Makes a dispatcher. Keep one for the life of the program, so that connections are used again.
 *
 * **Example** (Delivering an event)
 *
 * ```ts
 * import { makeDispatcher } from "@govoice/dispatcher"
 *
 * const dispatcher = makeDispatcher({ deadlineMs: 5_000 })
 * const outcome = await dispatcher.send({ url: "https://example.com/hook", body: '{"id":"evt_1"}' })
 * if (outcome._tag !== "Delivered" && outcome.retryable) console.log("later")
 * ```
 *
 * @throws {DispatcherError} `invalid_options` when an option cannot be read.
 * @category constructors
 * @since 0.1.0
 */
export const makeDispatcher = (options: DispatcherOptions = {}): PromiseDispatcher => {
  const engine = new Engine(options, Context.empty())
  const close = () => engine.close()
  return {
    send: async (request, { signal } = {}) => {
      signal?.throwIfAborted()
      try {
        return await Effect.runPromise(send(engine, request), signal === undefined ? undefined : { signal })
      } catch (error) {
        signal?.throwIfAborted()
        throw error
      }
    },
    close,
    [Symbol.asyncDispose]: close
  }
}
