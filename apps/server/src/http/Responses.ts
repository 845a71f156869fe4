/** Responses outside the declared API, in the same envelope, and the headers of all responses. */
import { Problems } from "@govoice/api"
import type { Ids } from "@govoice/core"
import { HttpServerResponse } from "effect/http"

/** The headers of every response. Only the reference and the console have anything to run, and policies of their own. */
export const securityHeaders = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'"
}

/**
 * The headers of every response of the console. Its page runs its own files alone; nothing may frame it, and no script may
 * write markup (Trusted Types).
 */
export const consoleHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()"
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
