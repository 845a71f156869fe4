/**
 * Answers outside the declared API, in the same envelope.
 *
 * @since 0.1.0
 */
import { Problems } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { HttpServerResponse } from "effect/http"

// How long a client is told to wait when the service is not available.
const retryAfterSeconds = 5

/**
 * Makes the answer to an error.
 *
 * @category constructors
 * @since 0.1.0
 */
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
