/**
 * Advice for the owner about a delivery: one entry for each class of results.
 */
import type { WebhookDelivery } from "@govoice/client"
import { en } from "../../text/en.ts"

type Advice = keyof typeof en.advice

const byStatus = (status: number): Advice => {
  if (status === 401 || status === 403) return "refused"
  if (status === 404 || status === 410) return "gone"
  if (status === 429) return "slow"
  if (status >= 300 && status < 400) return "redirect"
  if (status >= 400 && status < 500) return "clientError"
  return "serverError"
}

/** Advice for the sentences of `DeliveryVerdict` in core, which the service writes. Others have the general advice. */
export const bySummary: Readonly<Record<string, Advice>> = {
  "The request timed out.": "timeout",
  "The connection failed.": "connection",
  "The endpoint address is not allowed.": "address",
  "The attempt was interrupted.": "interrupted",
  "The delivery was stopped because sending it repeatedly interrupted the sender.": "interrupted",
  "The signing secret is temporarily unavailable.": "operator",
  "The request was postponed because the sender was overloaded.": "operator",
  "The request could not be prepared.": "operator"
}

/** Returns the advice for a delivery. */
export const adviceFor = ({ lastErrorSummary, lastHttpStatus, status }: WebhookDelivery): Advice => {
  if (status === "succeeded") return "succeeded"
  if (status === "endpoint_disabled") return "disabled"
  if (lastErrorSummary === null) return "underway"
  if (lastHttpStatus !== null) return byStatus(lastHttpStatus)
  return bySummary[lastErrorSummary] ?? "other"
}

/** Returns the last answer in a word: the HTTP status, or why there is none. */
export const answerOf = (record: WebhookDelivery): number | string =>
  record.lastHttpStatus ??
  (record.lastErrorSummary === null ? "" : (en.noAnswer[adviceFor(record)] ?? en.delivery.none))
