/**
 * Maps the result of an attempt to the trigger of its delivery and to the summary that the owner sees.
 *
 * The summaries are a fixed set of sentences. They contain no text of a receiver or resolver, and all connection failures
 * share one sentence, so that delivery records cannot be used to scan a network.
 *
 * @since 0.1.0
 */
import type { Trigger } from "./DeliveryState.ts"

/**
 * The result of an attempt.
 *
 * **Details**
 *
 * - `answered`: the endpoint returned this HTTP status, and `retryAfterMs` if it asked for a wait, in milliseconds.
 * - `timed_out`, `connection_failed`: no response arrived.
 * - `interrupted`: the lease of the worker expired before it recorded the result.
 * - `quarantine_failed`: the attempts in quarantine were interrupted too.
 * - `secret_unavailable`: the signing secret could not be decrypted, because a key is missing or wrong.
 * - `lease_too_short`: the lease of the worker might have expired before a response, so that another could have sent too.
 * - `blocked`, `disabled`: the check before sending stopped it.
 * - `invalid_request`: the request could not be built.
 *
 * @category models
 * @since 0.1.0
 */
export type AttemptResult =
  | { readonly _tag: "answered"; readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly _tag: "timed_out" }
  | { readonly _tag: "connection_failed" }
  | { readonly _tag: "interrupted" }
  | { readonly _tag: "quarantine_failed" }
  | { readonly _tag: "secret_unavailable" }
  | { readonly _tag: "lease_too_short" }
  | { readonly _tag: "blocked" }
  | { readonly _tag: "disabled" }
  | { readonly _tag: "invalid_request" }

/**
 * The trigger for `DeliveryState`, and the summary for the record (`null` on success).
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveryVerdict {
  readonly trigger: Exclude<Trigger, "claim">
  readonly summary: string | null
}

/**
 * Returns whether an HTTP status is a transient error: 429 and every 5xx.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRetryableStatus = (status: number): boolean => status === 429 || (status >= 500 && status <= 599)

/**
 * Returns the trigger and the summary for the result of an attempt.
 *
 * **Details**
 *
 * A transient error gives `retry` if `attemptsRemain`, otherwise `fail`. `secret_unavailable` and `lease_too_short` always
 * give `retry`: nothing was sent, and the operator can correct the cause.
 *
 * **Example** (Judging a response)
 *
 * ```ts import.meta.vitest
 * import { DeliveryVerdict } from "@govoice/core"
 *
 * DeliveryVerdict.judge({ _tag: "answered", status: 204 }, true) // => { trigger: "succeed", summary: null }
 * DeliveryVerdict.judge({ _tag: "timed_out" }, true) // => { trigger: "retry", summary: "The request timed out." }
 * DeliveryVerdict.judge({ _tag: "timed_out" }, false) // => { trigger: "fail", summary: "The request timed out." }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const judge = (result: AttemptResult, attemptsRemain: boolean): DeliveryVerdict => {
  const retryable = attemptsRemain ? "retry" : "fail"
  switch (result._tag) {
    case "answered":
      return result.status >= 200 && result.status <= 299
        ? { trigger: "succeed", summary: null }
        : {
            trigger: isRetryableStatus(result.status) ? retryable : "fail",
            summary: `The endpoint returned HTTP ${result.status}.`
          }
    case "timed_out":
      return { trigger: retryable, summary: "The request timed out." }
    case "connection_failed":
      return { trigger: retryable, summary: "The connection failed." }
    case "interrupted":
      return { trigger: retryable, summary: "The attempt was interrupted." }
    case "quarantine_failed":
      return {
        trigger: "fail",
        summary: "The delivery was stopped because sending it repeatedly interrupted the sender."
      }
    case "secret_unavailable":
      return { trigger: "retry", summary: "The signing secret is temporarily unavailable." }
    case "lease_too_short":
      return { trigger: "retry", summary: "The request was postponed because the sender was overloaded." }
    case "blocked":
      return { trigger: "block", summary: "The endpoint address is not allowed." }
    case "disabled":
      return { trigger: "disable", summary: "The endpoint was disabled or deleted." }
    case "invalid_request":
      return { trigger: "fail", summary: "The request could not be prepared." }
  }
}
