/**
 * How an attempt ended. Whatever a remote host does is one of these; none of it is thrown.
 *
 * @since 0.1.0
 */
import type { Rule } from "./Guard.ts"

/**
 * Why no response was read.
 *
 * - `timeout`: the deadline passed.
 * - `dns`: the name could not be looked up, or has no address.
 * - `connect`: no TCP connection came about.
 * - `tls`: no TLS session came about, for example because of the certificate.
 * - `reset`: the connection ended before the response head.
 * - `protocol`: what arrived is not HTTP/1.1, is larger than is read, or has a status outside of 200 to 599.
 *
 * @category models
 * @since 0.1.0
 */
export type FailureReason = "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol"

/**
 * A response with a 2xx status.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delivered {
  readonly _tag: "Delivered"
  readonly status: number
  readonly attempted: true
  readonly durationMs: number
}

/**
 * A response with another status. Redirects are not followed.
 *
 * **Details**
 *
 * `retryable` is true for 429 and 5xx alone. `retryAfterMs` is there for a 429 or 503 with a `Retry-After` that can be
 * read, as milliseconds from now, at most 6 hours.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly status: number
  readonly retryable: boolean
  readonly retryAfterMs?: number
  readonly attempted: true
  readonly durationMs: number
}

/**
 * No response. Where `attempted` is true the receiver may have handled the request nevertheless.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failed {
  readonly _tag: "Failed"
  readonly reason: FailureReason
  readonly retryable: true
  readonly attempted: boolean
  readonly durationMs: number
}

/**
 * The target may not be reached. Nothing was sent, and nothing will be until the URL or what it points to changes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Blocked {
  readonly _tag: "Blocked"
  readonly rule: Rule
  readonly retryable: false
  readonly attempted: false
  readonly durationMs: number
}

/**
 * How an attempt ended.
 *
 * **Details**
 *
 * `attempted` tells whether a request left this machine. `durationMs` is the time from `send` to this, fractions included.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Delivered | Refused | Failed | Blocked

/**
 * Says in a sentence how an attempt ended, for those who chose the URL.
 *
 * **Details**
 *
 * Refused, reset, unreachable and unanswered connections, names without an address and bad certificates all read the
 * same, and so do all rules: told apart they would map the network that the dispatcher runs in. Only after a connection
 * was accepted and a request sent is a passed deadline called one.
 *
 * **Example** (Telling the owner of an endpoint)
 *
 * ```ts import.meta.vitest
 * import { describe } from "@govoice/dispatcher"
 *
 * describe({ _tag: "Refused", status: 503, retryable: true, attempted: true, durationMs: 12 })
 * // => "The endpoint returned HTTP 503."
 * describe({ _tag: "Failed", reason: "tls", retryable: true, attempted: false, durationMs: 12 })
 * // => "The connection failed."
 * ```
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (outcome: Outcome): string => {
  switch (outcome._tag) {
    case "Delivered":
    case "Refused":
      return `The endpoint returned HTTP ${outcome.status}.`
    case "Failed":
      return outcome.reason === "timeout" && outcome.attempted ? "The request timed out." : "The connection failed."
    case "Blocked":
      return "The endpoint address is not allowed."
  }
}
