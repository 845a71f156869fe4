/**
 * Reads an answer that is no success.
 *
 * @module
 */
import { ApiError } from "../error.ts"
import type { FetchResponse } from "../fetch.ts"
import { decode } from "./decode.ts"
import { error as envelope } from "./kinds.ts"
import { retryAfterMs } from "./retryAfter.ts"

/** Makes the error of an answer. Where the answer has no envelope, its status decides what may be repeated. */
export const readError = async (response: FetchResponse, credential: string | undefined): Promise<ApiError> => {
  const { headers, status } = response
  const text = await response.text()
  let said
  try {
    // Something on the way may have repeated the request in its answer.
    said = (
      decode(envelope, JSON.parse(credential ? text.replaceAll(credential, "…") : text), "") as { error: Envelope }
    ).error
  } catch {}
  return new ApiError(said?.message ?? `The answer with HTTP status ${status} is not one of the API.`, {
    type: "api_error",
    code: "unexpected_response",
    status,
    retryable: /408|425|429|50[0234]/.test(`${status}`),
    requestId: headers.get("request-id") ?? undefined,
    ...said,
    retryAfterMs: retryAfterMs(headers.get("retry-after"), Date.now())
  })
}

interface Envelope {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly requestId: string
  readonly retryable: boolean
}
