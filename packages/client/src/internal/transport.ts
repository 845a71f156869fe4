/**
 * One call: as many requests as it takes, within its bounds, and one outcome.
 *
 * @module
 */
import type { CallOptions, ConnectionOptions, RequestInfo } from "../connection.ts"
import { type ApiError, ConnectionError, GovoiceError } from "../error.ts"
import type { Fetch, FetchResponse, PlatformSignal } from "../fetch.ts"
import { bounded } from "./bounded.ts"
import { readError } from "./readError.ts"
import { tell } from "./tell.ts"

declare const fetch: Fetch
declare const performance: { now(): number }

/** What {@link Send} tells `fetch` beside the URL. */
export interface RequestParts {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly headers?: Record<string, string>
  readonly body?: string
}

/**
 * What a connection has for the functions of this package. Programs do not call it: it may change in any release.
 *
 * Makes a call: a path without `/v1`, how its answer is read, the bounds that the caller set, and the key that is among
 * the headers. What might make something twice is sent once: a POST without a key, but for logins.
 */
export type Send = <A>(
  path: string,
  read: (response: FetchResponse) => Promise<A>,
  options?: CallOptions,
  parts?: RequestParts,
  idempotencyKey?: string
) => Promise<A>

/** The credential to send. */
export type Authorize = () => string | undefined

/** Tries to replace a credential that was refused with this error, and tells whether there is another one. */
export type Renew = (error: ApiError, refused: string | undefined) => Promise<unknown>

type Writable<A> = { -readonly [K in keyof A]: A[K] }

const longestPauseMs = 60_000

/** Makes what makes calls. @throws {TypeError} when `baseUrl` is none. */
export const createTransport = (
  {
    baseUrl,
    fetch: send,
    timeoutMs: longestAttemptMs = 30_000,
    deadlineMs: longestCallMs = 180_000,
    maxRetries = 2,
    onRequest,
    onResponse,
    onRetry
  }: ConnectionOptions,
  authorize?: Authorize,
  renew?: Renew
): Send => {
  if (!/^https?:\/\/[^\s?#@]+$/.test(baseUrl)) throw new TypeError("baseUrl must be http(s)")

  return async (
    path,
    read,
    { signal, timeoutMs = longestAttemptMs, deadlineMs = longestCallMs } = {},
    parts = { method: "GET" },
    idempotencyKey
  ) => {
    const expires = performance.now() + deadlineMs
    const info: Writable<RequestInfo> & { requestId: string | undefined } = {
      method: parts.method,
      url: `${baseUrl.replace(/\/+$/, "")}/v1${path}`,
      attempts: 0,
      idempotencyKey,
      requestId: undefined
    }
    const mayRepeat = parts.method !== "POST" || !!idempotencyKey || path.includes("auth")
    let delayMs = 0

    const attempt = async (signal: PlatformSignal, again: Renew | null | undefined = renew) => {
      const credential = authorize?.()
      info.attempts++
      void tell(onRequest, { ...info })
      const response = await (send ?? fetch)(info.url, {
        ...parts,
        headers: { ...parts.headers, ...(credential && { authorization: `Bearer ${credential}` }) },
        redirect: "manual",
        signal
      })
      info.requestId = response.headers.get("request-id") ?? undefined
      void tell(onResponse, { ...info, status: response.status, headers: response.headers })
      if (response.ok) return read(response)
      const error = await readError(response, credential)
      info.requestId ??= error.requestId
      if (await again?.(error, credential)) return attempt(signal, null)
      throw error
    }

    for (;;) {
      try {
        if (delayMs) await bounded(delayMs, signal)
        return await bounded(Math.min(timeoutMs, expires - performance.now()), signal, attempt)
      } catch (thrown) {
        const error = (
          thrown instanceof GovoiceError
            ? thrown
            : new ConnectionError("No connection", { retryable: true }, { cause: thrown })
        ) as ApiError
        // The refresh of an access token was a call of its own.
        if (error.attempts) throw error

        const { retryAfterMs, retryable, status } = error
        const again = retryable && (mayRepeat || status === 429)
        delayMs = retryAfterMs ?? Math.random() * Math.min(8000, 250 * 2 ** info.attempts)
        // Whether a request without an answer arrived is not known.
        Object.assign(error, info, { retryable: status ? retryable : again })
        if (!again || info.attempts > maxRetries || delayMs > Math.min(longestPauseMs, expires - performance.now()))
          throw error
        void tell(onRetry, { ...info, error, delayMs })
      }
    }
  }
}
