/**
 * Reads error responses.
 *
 * @module
 */
import { ApiError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"
import { check, parse } from "./decode.ts"
import { error as envelope } from "./schemas.ts"

/** Resolves with the error of a response. Without an envelope, the status decides whether the call is retryable. */
export const readError = async (
  response: FetchResponse,
  credential: string | undefined,
  base: string
): Promise<ApiError> => {
  const { status } = response
  const text = await response.text()
  // Seconds, a date, or null.
  const after = response.headers.get("retry-after") as never
  const retryAfterMs = after * 1000 || Date.parse(after) - Date.now()
  const fields: Record<string, unknown> = {
    type: "api_error",
    code: "unexpected_response",
    message: `The response (HTTP ${status}) is not from the API. Check baseUrl and proxies.`,
    param: null,
    requestId: undefined,
    docsUrl: undefined,
    retryable: /408|42[59]|5../.test(status as never)
  }
  try {
    const received = check(envelope, (parse(text) as { error: unknown }).error) as typeof fields
    // Only these: a newer service may send a member with the name of a property of the error.
    for (const name in fields) fields[name] = received[name]
    // A proxy may have copied the request into its response.
    if (credential) fields["message"] = (received["message"] as string).replaceAll(credential, "***")
    fields["docsUrl"] = `${base}/docs/errors/${received["code"] as string}`
  } catch {}
  return new ApiError(fields["message"] as string, {
    ...fields,
    status,
    retryAfterMs: retryAfterMs >= 0 ? retryAfterMs : undefined
  })
}
