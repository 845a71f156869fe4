/**
 * The timeout of requests whose body has arrived: a database that hangs does not occupy them forever.
 *
 * A timer interrupts the request. A race of two fibers would cost more than the whole of a small request.
 */
import { Cause, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"

/** The timeout of a request in milliseconds, longer than that of a statement. */
export const requestMs = 15_000

const isComplete = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  (source as Partial<IncomingMessage>).complete !== false

/**
 * Answers with `onTimeout` when a request takes longer than `requestMs`. The time starts again while its body is arriving: the
 * timeouts of the server limit that.
 */
export const withTimeout =
  <A, E2, R2>(request: HttpServerRequest.HttpServerRequest, onTimeout: Effect.Effect<A, E2, R2>) =>
  <E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R | R2> =>
    Effect.withFiber((fiber) => {
      let isLate = false
      const timer = setTimeout(() => {
        if (!isComplete(request)) return void timer.refresh()
        isLate = true
        fiber.interruptUnsafe(fiber.id)
      }, requestMs)

      const stopTimer = () => {
        clearTimeout(timer)
        return Effect.void
      }
      return Effect.catchCause(Effect.onExit(effect, stopTimer), (cause): Effect.Effect<A, E | E2, R2> =>
        isLate && Cause.hasInterrupts(cause) ? onTimeout : Effect.failCause(cause)
      )
    })
