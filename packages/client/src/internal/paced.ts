/**
 * Calls that wait for their turn instead of being refused by a rate limit.
 *
 * @module
 */
import type { ResponseHeaders, Signal } from "../fetch.ts"
import type { Send, Turn } from "./transport.ts"

interface Waiting {
  readonly signal: Signal
  readonly start: () => void
}

const pacedSends = /* @__PURE__ */ new WeakMap<Send, Send>()

/**
 * Returns the same sender, with turns: for at most 32 calls at once, and for as many calls and body bytes as the last
 * `RateLimit` left. One call always has a turn. If it is refused, the others wait for its `Retry-After` too.
 */
export const paced = (send: Send): Send => {
  const known = pacedSends.get(send)
  if (known) return known
  let calls = Infinity
  let bytes = Infinity
  // Of the bodies so far.
  let largest = 1
  let active = 0
  const queue: Array<Waiting> = []

  const startNext = () => {
    while (queue[0] && (!active || active < Math.min(32, calls, bytes / largest))) {
      const { signal, start } = queue.shift()!
      if (!signal.aborted) {
        active++
        start()
      }
    }
  }
  const read = (headers: ResponseHeaders) => {
    for (const [, isOfBytes, left] of headers.get("ratelimit")?.matchAll(/(bytes)?";r=(\d+)/g) ?? []) {
      if (isOfBytes) bytes = +left!
      else calls = +left!
    }
  }
  const inTurn: Send = async (method, path, answer, options, parts) => {
    let hasTurn = false
    largest = Math.max(largest, parts?.body.length ?? 0)
    const take = (signal: Signal) =>
      new Promise<void>((resolve) => {
        queue.push({
          signal,
          start: () => {
            hasTurn = true
            resolve()
          }
        })
        startNext()
      })
    const turn: Turn = { take, read }
    try {
      return await send(method, path, answer, { ...options, turn }, parts)
    } finally {
      if (hasTurn) active--
      startNext()
    }
  }

  pacedSends.set(send, inTurn).set(inTurn, inTurn)
  return inTurn
}
