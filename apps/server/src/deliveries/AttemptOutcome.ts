/**
 * How an attempt ended: as the dispatcher says, or before there was anything to send. It gives the trigger of the delivery, the
 * sentence for the owner, and the label of the metric.
 *
 * The sentences are a fixed set. They contain no text of a receiver or resolver, and all connection failures share one, so that
 * delivery records cannot be used to scan a network.
 */
import type { DeliveryState } from "@govoice/core"
import { describe, type Outcome } from "@govoice/dispatcher"
import type { AttemptLabel } from "../observability/EngineMetrics.ts"

/**
 * Nothing was sent.
 *
 * - `endpoint_disabled`: the endpoint was disabled or deleted.
 * - `secret_unavailable`: the signing secret could not be decrypted, because a key is missing or wrong.
 * - `lease_too_short`: the lease of the worker might have expired before a response, so that another could have sent too.
 * - `process_unavailable`: the process in which the delivery is attempted alone could not start.
 * - `invalid_request`: the request could not be built.
 * - `sender_failed`: the sender has a defect. Such an attempt counts, so that the delivery ends.
 */
export interface NotSent {
  readonly _tag: "NotSent"
  readonly reason:
    | "endpoint_disabled"
    | "secret_unavailable"
    | "lease_too_short"
    | "process_unavailable"
    | "invalid_request"
    | "sender_failed"
}

/** How an attempt ended. */
export type AttemptOutcome = Outcome | NotSent

/** The sentences for attempts that sent nothing. */
export const notSentSentences: Readonly<Record<NotSent["reason"], string>> = {
  endpoint_disabled: "The endpoint was disabled or deleted.",
  secret_unavailable: "The signing secret is temporarily unavailable.",
  lease_too_short: "The request was postponed because the sender was overloaded.",
  process_unavailable: "The request was postponed because the sender could not start a process for it.",
  invalid_request: "The request could not be prepared.",
  sender_failed: "The request could not be sent because of a fault of the sender."
}

/** The sentence for an attempt whose lease expired before its outcome was recorded. */
export const interrupted = "The attempt was interrupted."

/** The sentence for a delivery that ended because it was interrupted four times. */
export const stopped = "The delivery was stopped because sending it repeatedly interrupted the sender."

/** Returns the sentence for the owner; null for a success. */
export const sentenceOf = (outcome: AttemptOutcome): string | null => {
  if (outcome._tag === "Delivered") return null
  return outcome._tag === "NotSent" ? notSentSentences[outcome.reason] : describe(outcome)
}

const notSentTriggers: Readonly<Record<Exclude<NotSent["reason"], "sender_failed">, "disable" | "retry" | "fail">> = {
  endpoint_disabled: "disable",
  // Nothing was sent, and the operator can correct the cause: such attempts have no end.
  secret_unavailable: "retry",
  lease_too_short: "retry",
  process_unavailable: "retry",
  invalid_request: "fail"
}

/** Returns the trigger of the delivery. */
export const triggerOf = (
  outcome: AttemptOutcome,
  attemptsRemain: boolean
): Exclude<DeliveryState.Trigger, "claim"> => {
  if (outcome._tag === "Delivered") return "succeed"
  if (outcome._tag === "Blocked") return "block"
  if (outcome._tag === "NotSent" && outcome.reason !== "sender_failed") return notSentTriggers[outcome.reason]
  return (outcome._tag === "NotSent" || outcome.retryable) && attemptsRemain ? "retry" : "fail"
}

/** Whether the dispatcher tried to send the request. */
export const wasTried = (outcome: AttemptOutcome): outcome is Exclude<Outcome, { _tag: "Blocked" }> =>
  outcome._tag !== "NotSent" && outcome._tag !== "Blocked"

/** Whether the attempt is one of those that the retry schedule allows. */
export const isCounted = (outcome: AttemptOutcome): boolean =>
  wasTried(outcome) || (outcome._tag === "NotSent" && outcome.reason === "sender_failed")

/** Returns the label of an outcome in `EngineMetrics.attempts`. */
export const labelOf = (outcome: AttemptOutcome): AttemptLabel => {
  switch (outcome._tag) {
    case "NotSent":
      return outcome.reason
    case "Failed":
      return `failed_${outcome.reason}`
    case "Blocked":
      return "blocked"
    default:
      if (outcome.status === 429) return "429"
      return (["2xx", "3xx", "4xx"] as const)[Math.floor(outcome.status / 100) - 2] ?? "5xx"
  }
}
