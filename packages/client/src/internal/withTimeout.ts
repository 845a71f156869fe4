/**
 * Timeouts and cancellation.
 *
 * @module
 */
import { AbortedError, TimeoutError } from "../error.ts"
import type { PlatformSignal, Signal } from "../fetch.ts"

declare const AbortController: new () => { readonly signal: PlatformSignal; abort(): void }
declare const setTimeout: (callback: () => void, ms: number) => unknown
declare const clearTimeout: (timer: unknown) => void

/**
 * Runs `work` and aborts it after `ms` milliseconds or when `signal` is aborted. The promise settles then, even if the work
 * ignores its signal. Leaves no timer and no listener behind. Without `work` it is a delay.
 *
 * @throws {TimeoutError | AbortedError} or the error of the work. `message` returns that of the `TimeoutError`.
 */
export const withTimeout = <A>(
  ms: number,
  signal: Signal | undefined,
  work?: (signal: PlatformSignal) => Promise<A>,
  message?: (ms: number) => string
): Promise<A> => {
  const controller = new AbortController()
  let timer: unknown
  let abort!: () => void
  return new Promise<A>((resolve, reject) => {
    const stop = (error: Error) => {
      reject(error)
      controller.abort()
    }
    abort = () => stop(new AbortedError("Aborted by signal.", {}, { cause: signal!.reason }))
    // A timer of more than 2^31 ms (2.1e9) fires at once.
    timer =
      ms < 2e9 &&
      setTimeout(
        () => (work ? stop(new TimeoutError(message!(ms | 0), { retryable: true })) : resolve(undefined as A)),
        ms
      )
    signal?.addEventListener("abort", abort)
    if (signal?.aborted) abort()
    else work?.(controller.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
  })
}
