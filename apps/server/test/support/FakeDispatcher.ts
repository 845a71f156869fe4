/** A dispatcher with the outcomes of a test. It records the requests. */
import { type Blocked, Dispatcher, type DispatchRequest, type Outcome } from "@govoice/dispatcher"
import { Effect, Layer } from "effect"

export const delivered: Outcome = { _tag: "Delivered", status: 204, attempted: true, durationMs: 1 }

export const refused = (status: number, retryAfterMs?: number): Outcome => ({
  _tag: "Refused",
  status,
  retryable: status === 429 || status >= 500,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  attempted: true,
  durationMs: 1
})

export const failed = (
  reason: "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol",
  attempted = true
): Outcome => ({
  _tag: "Failed",
  reason,
  retryable: true,
  attempted,
  durationMs: 1
})

export const blocked: Blocked = { _tag: "Blocked", rule: "private", retryable: false, attempted: false, durationMs: 1 }

export const make = (answer: (request: DispatchRequest) => Effect.Effect<Outcome>) => {
  const requests: Array<DispatchRequest> = []
  return {
    requests,
    layer: Layer.succeed(Dispatcher)({
      send: (request) =>
        Effect.suspend(() => {
          requests.push(request)
          return answer(request)
        })
    })
  }
}
