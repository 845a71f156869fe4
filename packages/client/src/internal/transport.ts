/**
 * One call: as many requests as it takes, within its bounds, and one outcome.
 *
 * @module
 */
import type { CallOptions, ConnectionOptions, RequestInfo } from "../connection.ts"
import { type ApiError, ConnectionError, GovoiceError } from "../error.ts"
import type { Fetch, FetchResponse } from "../fetch.ts"
import { bounded } from "./bounded.ts"
import { readError } from "./readError.ts"
import { tell } from "./tell.ts"

declare const fetch: Fetch
declare const performance: { now(): number }
declare const URL: new (url: string) => { readonly protocol: string; readonly username: string }

/** What is sent, and how the answer is read. */
export interface Call<A> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Without `/v1`. */
  readonly path: string
  readonly read: (response: FetchResponse) => Promise<A>
  readonly body?: object
  readonly headers?: Record<string, string>
  /** A POST that has a key may be repeated. */
  readonly idempotencyKey?: string
  /** So may one that does no harm the second time. */
  readonly isRepeatable?: boolean
}

/** Makes calls. */
export type Send = <A>(call: Call<A>, options?: CallOptions) => Promise<A>

/** The credential to send. It is asked again, once, when the one that it gave was refused. */
export type Authorize = (refused?: string) => string | undefined | Promise<string | undefined>

const longestRetryAfterMs = 60_000

/** Makes what makes calls. @throws {TypeError} when `baseUrl` is none. */
export const createTransport = (
  { baseUrl, fetch: send, timeoutMs = 30_000, deadlineMs = 180_000, maxRetries = 2, ...hooks }: ConnectionOptions,
  authorize: Authorize
): Send => {
  const { protocol, username } = new URL(baseUrl)
  if (!/^https?:/.test(protocol) || username) throw new TypeError("baseUrl must be an http(s) URL without credentials")

  return async ({ body, headers, idempotencyKey, isRepeatable, method, path, read }, options = {}) => {
    const url = `${baseUrl.replace(/\/+$/, "")}/v1${path}`
    const json = body && JSON.stringify(body)
    const expires = performance.now() + (options.deadlineMs ?? deadlineMs)
    const mayRepeat = method !== "POST" || idempotencyKey || isRepeatable
    let attempts = 0
    let delayMs = 0
    let refused: string | undefined

    for (;;) {
      let credential: string | undefined
      let requestId: string | undefined
      let request!: RequestInfo

      const attempt = async (signal: Parameters<Fetch>[1]["signal"]) => {
        credential = await authorize(refused)
        request = { method, url, attempt: ++attempts, idempotencyKey }
        void tell(hooks.onRequest, request)
        const started = performance.now()
        const response = await (send ?? fetch)(url, {
          method,
          headers: {
            ...(credential && { authorization: `Bearer ${credential}` }),
            ...(json && { "content-type": "application/json" }),
            ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
            ...headers
          },
          ...(json && { body: json }),
          redirect: "manual",
          signal
        })
        requestId = response.headers.get("request-id") ?? undefined
        void tell(hooks.onResponse, {
          ...request,
          status: response.status,
          headers: response.headers,
          requestId,
          durationMs: performance.now() - started
        })
        if (response.ok) return read(response)
        throw await readError(response, credential)
      }

      try {
        if (delayMs) await bounded(delayMs, options.signal)
        return await bounded(
          Math.min(options.timeoutMs ?? timeoutMs, expires - performance.now()),
          options.signal,
          attempt
        )
      } catch (thrown) {
        const error = (
          thrown instanceof GovoiceError
            ? thrown
            : new ConnectionError("The connection failed.", { retryable: true }, thrown)
        ) as ApiError
        // The refresh of an access token was a call of its own.
        if (error.attempts) throw error

        const { code, retryable, retryAfterMs, status } = error
        if (code === "missing_access_token" && credential && !refused) {
          refused = credential
          delayMs = 0
          continue
        }
        Object.assign(error, {
          attempts,
          idempotencyKey,
          requestId: error.requestId ?? requestId,
          // Whether it arrived is not known, so that a second one might do the same again.
          retryable: retryable && (status || mayRepeat) ? true : false
        })
        delayMs = retryAfterMs ?? Math.random() * Math.min(8000, 500 * 2 ** (attempts - 1))
        if (
          !retryable ||
          !(mayRepeat || status === 429) ||
          attempts > maxRetries ||
          delayMs > longestRetryAfterMs ||
          delayMs >= expires - performance.now()
        ) {
          throw error
        }
        void tell(hooks.onRetry, { ...request, error, delayMs })
      }
    }
  }
}
