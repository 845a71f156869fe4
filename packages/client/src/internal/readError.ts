/**
 * Reads an answer that is no success.
 *
 * @module
 */
import { ApiError, type ErrorFields } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"
import { check, parse } from "./decode.ts"
import { error as envelope } from "./kinds.ts"

/** Makes the error of an answer. Where the answer has no envelope, its status decides what may be repeated. */
export const readError = async (response: FetchResponse, credential: string | undefined): Promise<ApiError> => {
  const { headers, status } = response
  const text = await response.text()
  // In seconds or as a date; null when it is not there.
  const after = headers.get("retry-after") as never
  const retryAfterMs = after * 1000 || Date.parse(after) - Date.now()
  let said: Said = {
    type: "api_error",
    code: "unexpected_response",
    message: `HTTP ${status}`,
    param: null,
    retryable: /408|425|429|50[0234]/.test(status as never)
  }
  try {
    said = check(envelope, (parse(text) as { error: unknown }).error) as Said
  } catch {}
  // Something on the way may have repeated the request in its answer.
  said.message = said.message.replaceAll(credential!, "***")
  return new ApiError(said.message, { ...said, status, retryAfterMs: retryAfterMs >= 0 ? retryAfterMs : undefined })
}

interface Said extends ErrorFields {
  message: string
}
