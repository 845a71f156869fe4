/** Responses outside the declared API, in the same envelope, and the headers of all responses. */
import { Problems } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { HttpServerResponse } from "effect/http"

/** The headers of every response. Only the reference has anything to run, and a policy of its own. */
export const securityHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'"
}

const retryAfterSeconds = 5

/** Makes the response to an error. */
export const problem = (
  code: Problems.Code,
  requestId: Ids.RequestId,
  headers: Readonly<Record<string, string>> = {},
  details?: Problems.Details
): HttpServerResponse.HttpServerResponse => {
  const body = Problems.make(code, requestId, details)
  const status = Problems.status(body)
  return HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: status === 503 ? { "retry-after": String(retryAfterSeconds), ...headers } : headers
  })
}
