/**
 * What the end of one attempt means for its delivery, in the words that are shown to the owner.
 *
 * The sentences are a fixed vocabulary of our own. None of them repeats anything that a receiver or a resolver said,
 * and the failures of a connection share one sentence, so that the records cannot be used to scan a network.
 *
 * @since 0.1.0
 */
import type { Trigger } from "./DeliveryState.ts"

/**
 * How an attempt ended.
 *
 * **Details**
 *
 * `answered` carries the HTTP status; `timed_out` and `unconnected` are failures of the transport; `interrupted` is an
 * attempt whose worker vanished; `blocked` and `disabled` come from the check before sending; `unprepared` is a request
 * that could not be made, whatever the receiver does.
 *
 * @category models
 * @since 0.1.0
 */
export type AttemptEnd =
  | { readonly _tag: "answered"; readonly status: number }
  | { readonly _tag: "timed_out" }
  | { readonly _tag: "unconnected" }
  | { readonly _tag: "interrupted" }
  | { readonly _tag: "blocked" }
  | { readonly _tag: "disabled" }
  | { readonly _tag: "unprepared" }

/**
 * The trigger for `DeliveryState` and the summary for the record; `null` where nothing went wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verdict {
  readonly trigger: Exclude<Trigger, "claim">
  readonly summary: string | null
}

/**
 * Tells whether an HTTP status calls for another attempt: 429 and every 5xx.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRetryableStatus = (status: number): boolean => status === 429 || (status >= 500 && status <= 599)

/**
 * Judges the end of an attempt.
 *
 * **Details**
 *
 * `attemptsRemain` turns a retryable failure into `retry`; without it the delivery has failed.
 *
 * **Example** (Judging an answer)
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
export const judge = (end: AttemptEnd, attemptsRemain: boolean): Verdict => {
  const retryable = attemptsRemain ? "retry" : "fail"
  switch (end._tag) {
    case "answered":
      return end.status >= 200 && end.status <= 299
        ? { trigger: "succeed", summary: null }
        : {
            trigger: isRetryableStatus(end.status) ? retryable : "fail",
            summary: `The endpoint returned HTTP ${end.status}.`
          }
    case "timed_out":
      return { trigger: retryable, summary: "The request timed out." }
    case "unconnected":
      return { trigger: retryable, summary: "The connection failed." }
    case "interrupted":
      return { trigger: retryable, summary: "The attempt was interrupted." }
    case "blocked":
      return { trigger: "block", summary: "The endpoint address is not allowed." }
    case "disabled":
      return { trigger: "disable", summary: "The endpoint was disabled or deleted." }
    case "unprepared":
      return { trigger: "fail", summary: "The request could not be prepared." }
  }
}
