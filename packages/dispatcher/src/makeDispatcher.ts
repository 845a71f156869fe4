/**
 * The dispatcher with promises.
 *
 * @since 0.1.0
 */
import { Engine } from "./internal/engine.ts"
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
   * Makes one attempt. Resolves with its outcome whatever the target does.
   *
   * Rejects with a `DispatcherError` for a request that must not be sent (`invalid_request`) and after `close`
   * (`closed`). With a `signal` that is aborted it rejects with the reason of the signal, and closes the connection.
   */
  readonly send: (request: DispatchRequest, options?: { readonly signal?: AbortSignal }) => Promise<Outcome>

  /**
   * Lets the attempts that were begun end within their deadlines, then closes all connections. Later calls return the same
   * promise.
   */
  readonly close: () => Promise<void>
}

/**
 * Makes a dispatcher. Keep one for the life of the program, so that connections are used again.
 *
 * @throws {DispatcherError} `invalid_options` when an option cannot be read.
 * @category constructors
 * @since 0.1.0
 */
export const makeDispatcher = (options: DispatcherOptions = {}): PromiseDispatcher => {
  const engine = new Engine(options)
  const close = () => engine.close()
  return {
    send: (request, { signal } = {}) =>
      new Promise<Outcome>((resolve, reject) => {
        signal?.throwIfAborted()
        const onAbort = () => {
          cancel()
          reject(signal!.reason)
        }
        const cancel = engine.start(request, (outcome, error) => {
          signal?.removeEventListener("abort", onAbort)
          if (error === undefined) resolve(outcome)
          else reject(error)
        })
        signal?.addEventListener("abort", onAbort, { once: true })
      }),
    close,
    [Symbol.asyncDispose]: close
  }
}
