/**
 * Reads an answer that is no success.
 *
 * @module
 */
import { ApiError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"
import { check, parse } from "./decode.ts"
import { error as envelope } from "./kinds.ts"

/** Makes the error of an answer. Where the answer has no envelope, its status decides what may be repeated. */
export const readError = async (response: FetchResponse, credential: string | undefined): Promise<ApiError> => {
  const { status } = response
  const text = await response.text()
  // In seconds or as a date; null when it is not there.
  const after = response.headers.get("retry-after") as never
  const retryAfterMs = after * 1000 || Date.parse(after) - Date.now()
  const fields: Record<string, unknown> = {
    type: "api_error",
    code: "unexpected_response",
    message: `HTTP ${status}`,
    param: null,
    requestId: undefined,
    retryable: /408|425|429|50[0234]/.test(status as never)
  }
  try {
    const said = check(envelope, (parse(text) as { error: unknown }).error) as typeof fields
    // And no others: a member that is younger than this package may be called like a property of an error.
    for (const name in fields) fields[name] = said[name]
    // Something on the way may have repeated the request in its answer.
    if (credential) fields["message"] = (said["message"] as string).replaceAll(credential, "***")
  } catch {}
  return new ApiError(fields["message"] as string, {
    ...fields,
    status,
    retryAfterMs: retryAfterMs >= 0 ? retryAfterMs : undefined
  })
}
