/**
 * One call: as many requests as it takes, within its bounds, and one outcome.
 *
 * @module
 */
import type { CallOptions, ConnectionOptions, RequestInfo } from "../connection.ts"
import { type ApiError, ConnectionError, GovoiceError } from "../error.ts"
import type { Fetch, FetchResponse, PlatformSignal } from "../fetch.ts"
import { bounded } from "./bounded.ts"
import { check, parse } from "./decode.ts"
import { must } from "./must.ts"
import { readError } from "./readError.ts"
import { tell } from "./tell.ts"

declare const fetch: Fetch
declare const performance: { now(): number }

/** What a request has beside its method and its path. */
export interface RequestParts {
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * What a connection has for the functions of this package. Programs do not call it: it may change in any release.
 *
 * Makes a call: its method and path, the kind of its answer or how to read it, the bounds that the caller set, and what
 * else the request has. What might make something twice is sent once: a POST without an idempotency key, but for logins.
 */
export type Send = <A>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  answer: string | ((response: FetchResponse) => Promise<A>),
  options?: CallOptions & { readonly idempotencyKey?: string | undefined },
  parts?: RequestParts
) => Promise<A>

/** The credential to send. */
export type Authorize = () => string | undefined

/** Tries to replace a credential that was refused with this error, and tells whether there is another one. */
export type Renew = (error: ApiError, refused: string | undefined) => Promise<unknown>

type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** Makes what makes calls to the paths below `root`. @throws {TypeError} when `baseUrl` is none. */
export const createTransport = (
  options: ConnectionOptions,
  root: string,
  authorize: Authorize,
  renew?: Renew
): Send => {
  const longestPauseMs = 60_000
  const base = must("baseUrl", options.baseUrl, /^https?:\/\/[^\s?#@]+$/).replace(/\/+$/, "")

  return async (
    method,
    path,
    answer,
    {
      signal,
      timeoutMs = options.timeoutMs ?? 30_000,
      deadlineMs = options.deadlineMs ?? 180_000,
      idempotencyKey
    } = {},
    parts
  ) => {
    const expires = performance.now() + deadlineMs
    // What was last heard of the call.
    const info = { method, url: `${base}/v1${root}${path}`, attempts: 0, idempotencyKey } as Writable<RequestInfo> & {
      requestId: string | undefined
    }
    const mayRepeat = !!idempotencyKey || !/POST(?!auth)/.test(method + path)
    let delayMs = 0

    const attempt = async (signal: PlatformSignal, again: Renew | null | undefined = renew) => {
      const credential = authorize()
      info.attempts++
      void tell(options.onRequest, { ...info })
      const response = await (options.fetch ?? fetch)(info.url, {
        method,
        ...parts,
        headers: { ...parts?.headers, ...(credential && { authorization: `Bearer ${credential}` }) },
        redirect: "manual",
        signal
      })
      info.requestId = response.headers.get("request-id") || undefined
      void tell(options.onResponse, { ...info, status: response.status, headers: response.headers })
      if (response.ok)
        return typeof answer === "string" ? (check(answer, parse(await response.text())) as never) : answer(response)
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

        // An attempt before has removed it, and its answer did not arrive.
        if (delayMs && /DELETE.+_not_/.test(method + error.code)) return undefined as never
        const again = error.retryable && (mayRepeat || error.status === 429)
        delayMs = error.retryAfterMs ?? Math.random() * Math.min(8000, 250 * 2 ** info.attempts)
        // Whether a request without an answer arrived is not known.
        Object.assign(error, info, { retryable: error.status ? error.retryable : again })
        if (
          !again ||
          info.attempts > (options.maxRetries ?? 2) ||
          delayMs > longestPauseMs ||
          delayMs > expires - performance.now()
        )
          throw error
        void tell(options.onRetry, { ...info, error, delayMs })
      }
    }
  }
}
