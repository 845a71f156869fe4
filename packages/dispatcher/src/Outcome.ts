/**
 * How an attempt ended. Everything that a receiver can do is one of these outcomes, and nothing is thrown for it.
 *
 * @since 0.1.0
 */
import type { Rule } from "./Rule.ts"

/**
 * Why no response was read.
 *
 * - `timeout`: the deadline passed.
 * - `dns`: the lookup of the name failed, or the name has no address.
 * - `connect`: the TCP connection could not be established.
 * - `tls`: the TLS session could not be established, for example because of the certificate.
 * - `reset`: the connection was closed before the response head.
 * - `protocol`: the response is not HTTP/1.1, is over a limit, or has a status outside of 200 to 599.
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
 * `retryable` is true for 429 and 5xx alone. `retryAfterMs` is present for a 429 or 503 with a valid `Retry-After`: milliseconds
 * from now, at most 6 hours.
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
 * No response. Where `attempted` is true, the receiver may have handled the request nevertheless.
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
 * The URL or its address is not allowed. Nothing was sent. The outcome stays the same until the URL, its DNS records or the
 * policy change.
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
 * `attempted` is true if the request was written to a connection. `durationMs` is the time from `send` to the outcome, with
 * fractions.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Delivered | Refused | Failed | Blocked

/**
 * Describes an outcome in a sentence, for the person who chose the URL.
 *
 * **Details**
 *
 * Refused, reset, unreachable and unanswered connections, names without an address and bad certificates have the same
 * sentence, and so have all rules about addresses: different sentences would map the network of the dispatcher. What is wrong
 * with the text of a URL is told. A deadline is named only where the request was sent.
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
 * describe({ _tag: "Blocked", rule: "url", retryable: false, attempted: false, durationMs: 0 })
 * // => "The URL is not complete. It needs a scheme and a host, such as https://example.com/hooks."
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
      return ofUrl[outcome.rule] ?? "The endpoint address is not allowed."
  }
}

// These rules depend on the text of the URL alone.
const ofUrl: { readonly [R in Rule]?: string } = {
  url: "The URL is not complete. It needs a scheme and a host, such as https://example.com/hooks.",
  scheme: "The URL does not begin with https://.",
  userinfo: "The URL has a user name or a password. Remove them."
}
