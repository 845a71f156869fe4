/**
 * The outcome of the last attempt in words, and advice for the owner: one entry for each class of outcomes.
 */
import type { WebhookDelivery } from "@govoice/client"
import { texts } from "../../text/texts.ts"

type Advice = keyof typeof texts.advice

const byStatus = (status: number): Advice => {
  if (status === 401 || status === 403) return "refused"
  if (status === 404 || status === 410) return "gone"
  if (status === 429) return "slow"
  if (status >= 300 && status < 400) return "redirect"
  if (status >= 400 && status < 500) return "clientError"
  return "serverError"
}

/** Advice for the sentences of `AttemptOutcome.ts`, which the service writes. Others have the general advice. */
export const bySummary: Readonly<Record<string, Advice>> = {
  "The request timed out.": "timeout",
  "The connection failed.": "connection",
  "The endpoint address is not allowed.": "address",
  "The URL is not complete. It needs a scheme and a host, such as https://example.com/hooks.": "address",
  "The URL does not begin with https://.": "address",
  "The URL has a user name or a password. Remove them.": "address",
  "The attempt was interrupted.": "interrupted",
  "The delivery was stopped because sending it repeatedly interrupted the sender.": "interrupted",
  "The signing secret is temporarily unavailable.": "operator",
  "The request was postponed because the sender was overloaded.": "operator",
  "The request was postponed because the sender could not start a process for it.": "operator",
  "The request could not be prepared.": "operator",
  "The request could not be sent because of a fault of the sender.": "operator"
}

/** Returns the advice for a delivery. */
export const adviceFor = ({ lastErrorSummary, lastHttpStatus, status }: WebhookDelivery): Advice => {
  if (status === "succeeded") return "succeeded"
  if (status === "endpoint_disabled") return "disabled"
  if (lastErrorSummary === null) return "underway"
  if (lastHttpStatus !== null) return byStatus(lastHttpStatus)
  return bySummary[lastErrorSummary] ?? "other"
}

/** The names of the statuses that receivers answer with most. */
const statusNames: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout"
}

/** Returns the outcome of the last attempt: the HTTP status with its name, or why there is none. Empty before the first. */
export const outcomeOf = (record: WebhookDelivery): string => {
  const { lastErrorSummary, lastHttpStatus } = record
  if (lastHttpStatus !== null) return [lastHttpStatus, statusNames[lastHttpStatus]].filter(Boolean).join(" ")
  return lastErrorSummary === null ? "" : (texts.noResponse[adviceFor(record)] ?? texts.delivery.noResponse)
}
