/**
 * Work that is bounded by a time and by a signal. Whatever becomes of it, no timer and no listener stays behind.
 *
 * @module
 */
import { AbortedError, TimeoutError } from "../error.ts"
import type { PlatformSignal, Signal } from "../fetch.ts"

declare const AbortController: new () => { readonly signal: PlatformSignal; abort(): void }
declare const setTimeout: (callback: () => void, ms: number) => unknown
declare const clearTimeout: (timer: unknown) => void

/**
 * Runs `work` and aborts it when `ms` milliseconds have passed or `signal` is aborted. It settles then, also when the
 * work goes on regardless. Without work it is a pause.
 *
 * @throws {TimeoutError | AbortedError} or what the work threw.
 */
export const bounded = <A>(
  ms: number,
  signal: Signal | undefined,
  work?: (signal: PlatformSignal) => Promise<A>
): Promise<A> => {
  const controller = new AbortController()
  let timer: unknown
  let abort!: () => void
  return new Promise<A>((resolve, reject) => {
    const stop = (error: Error) => {
      reject(error)
      controller.abort()
    }
    abort = () => stop(new AbortedError("Aborted", {}, { cause: signal!.reason }))
    // A timer for longer than 31 bits can hold (2.1e9) would go off at once.
    timer =
      ms < 2e9 &&
      setTimeout(
        () => (work ? stop(new TimeoutError("Not in time", { retryable: true })) : resolve(undefined as A)),
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
