/**
 * Sends the requests of a call: authorization, retries, timeouts and hooks.
 *
 * @module
 */
import { type ApiError, ConnectionError, GovoiceError } from "../error.ts"
import type { Fetch, FetchResponse, PlatformSignal, ResponseHeaders } from "../fetch.ts"
import type { CallOptions, ConnectionOptions, RequestInfo } from "../options.ts"
import { assertMatches, assertSet } from "./checkOptions.ts"
import { callHook } from "./callHook.ts"
import { check, parse } from "./decode.ts"
import { readBody } from "./readBody.ts"
import { readError } from "./readError.ts"
import { withTimeout } from "./withTimeout.ts"

declare const fetch: Fetch
declare const Request: { readonly prototype: object } | undefined
declare const performance: { now(): number }

/**
 * The headers and body of a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestParts {
  readonly headers: Record<string, string>
  readonly body: string
}

/** The turn of a call among others. */
export interface Turn {
  /** Resolves when it is the turn of the call. */
  readonly take: (signal: PlatformSignal) => Promise<void>
  /** Called with the head of each response. */
  readonly read: (headers: ResponseHeaders) => void
}

/**
 * Makes a call. `answer` is the schema of the response or a function that reads it. A POST without an idempotency key is
 * not retried after an unknown result, except for logins.
 *
 * **Gotchas**
 *
 * For the functions of this package only. It may change in any release.
 *
 * @category models
 * @since 0.1.0
 */
export type Send = <A>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  answer: string | ((response: FetchResponse) => Promise<A>),
  options?: CallOptions & { readonly idempotencyKey?: string | undefined; readonly turn?: Turn },
  parts?: RequestParts
) => Promise<A>

/** Returns the credential to send. */
export type Authorize = () => string | undefined

/** Tries to renew the credential that was rejected with this error. Resolves with whether there is a new one. */
export type Renew = (error: ApiError, rejected: string | undefined) => Promise<unknown>

type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** Returns the function that calls paths below `root`. @throws {TypeError} if `baseUrl` is invalid. */
export const createTransport = (
  options: ConnectionOptions,
  root: string,
  authorize: Authorize,
  renew?: Renew
): Send => {
  const maxDelayMs = 60_000
  const { baseUrl } = options
  assertSet("baseUrl", baseUrl, "GOVOICE_URL")
  // Passwords in the URL and keys in the wrong option must not appear in a message.
  const got = /^[^@_]{0,40}$/.test(baseUrl) ? ` (got "${baseUrl}")` : ""
  assertMatches(baseUrl, /^https?:\/\/[^/]/, `baseUrl must start with http:// or https://${got}.`)
  assertMatches(baseUrl, /^[^\s?#@]+$/, `baseUrl must not have white space, a password or a query${got}.`)
  assertMatches(baseUrl, /^(?!.*\/v1\/*$)/, `baseUrl must not end in /v1${got}.`)
  const base = baseUrl.replace(/(?<!\/)\/+$/, "")
  const [protocol, , host] = base.split("/") as [string, string, string]
  const address = /:\d+$/.test(host) ? host : `${host}:${protocol === "https:" ? 443 : 80}`

  return async (
    method,
    path,
    answer,
    {
      signal,
      timeoutMs = options.timeoutMs ?? 30_000,
      deadlineMs = options.deadlineMs ?? 180_000,
      idempotencyKey,
      turn
    } = {},
    parts
  ) => {
    const expires = performance.now() + deadlineMs
    // The last request and response of the call.
    const info = { method, url: `${base}/v1${root}${path}`, attempts: 0, idempotencyKey } as Writable<RequestInfo> & {
      requestId: string | undefined
    }
    const isIdempotent = !!idempotencyKey || !/POST(?!auth)/.test(method + path)
    let delayMs = 0

    const attempt = async (signal: PlatformSignal, again: Renew | null | undefined = renew) => {
      const credential = authorize()
      info.attempts++
      void callHook(options.onRequest, { ...info })
      const head = await (options.fetch ?? fetch)(info.url, {
        method,
        ...parts,
        headers: { ...parts?.headers, ...(credential && { authorization: `Bearer ${credential}` }) },
        redirect: "manual",
        // Some workers have no such member, and reject it.
        ...(typeof Request !== "undefined" && "cache" in Request.prototype && { cache: "no-store" as const }),
        signal
      })
      turn?.read(head.headers)
      info.requestId = head.headers.get("request-id") || undefined
      void callHook(options.onResponse, { ...info, status: head.status, headers: head.headers })
      const response = await readBody(head)
      if (response.ok)
        return typeof answer === "string" ? (check(answer, parse(await response.text())) as never) : answer(response)
      const error = await readError(response, credential, base)
      info.requestId ??= error.requestId
      if (await again?.(error, credential)) return attempt(signal, null)
      throw error
    }

    for (;;) {
      try {
        if (delayMs) await withTimeout(delayMs, signal)
        else if (turn)
          await withTimeout(
            expires - performance.now(),
            signal,
            turn.take,
            (ms) => `Other calls left no turn within ${ms} ms.`
          )
        return await withTimeout(
          Math.min(timeoutMs, expires - performance.now()),
          signal,
          attempt,
          (ms) => `No response from ${address} within ${ms} ms.`
        )
      } catch (thrown) {
        // Next.js ends the prerendering of a page by an error of `fetch`, which has to arrive as it is.
        if ((thrown as Thrown | undefined)?.digest) throw thrown
        const cause = causeOf(thrown as Thrown)
        const error = (
          thrown instanceof GovoiceError
            ? thrown
            : new ConnectionError(
                `Connection to ${address} failed: ${cause} (attempts: ${info.attempts}). ${remedyOf(cause)}`,
                { retryable: true },
                { cause: thrown }
              )
        ) as ApiError
        // The refresh of an access token is a call of its own, with its own retries.
        if (error.attempts) throw error

        // A previous attempt deleted the resource, but its response did not arrive.
        if (delayMs && /DELETE.+_not_/.test(method + error.code)) return undefined as never
        const again = error.retryable && (isIdempotent || error.status === 429)
        delayMs = error.retryAfterMs ?? 0
        // Without a response, it is unknown whether the request arrived.
        Object.assign(error, info, { retryable: error.status ? error.retryable : again })
        if (!again || info.attempts > (options.maxRetries ?? 2) || delayMs > maxDelayMs) throw error
        // Random also after a Retry-After: many calls may have received the same.
        delayMs += Math.random() * 250 * 2 ** Math.min(5, info.attempts)
        if (delayMs > expires - performance.now()) throw error
        void callHook(options.onRetry, { ...info, error, delayMs })
      }
    }
  }
}

interface Thrown {
  readonly digest?: string
  readonly name?: string
  readonly code?: string
  readonly cause?: Thrown
}

// A code such as ECONNREFUSED. The message of `fetch` may quote headers or a part of the response.
const causeOf = (thrown: Thrown | undefined): string | undefined => thrown?.cause?.code ?? thrown?.code ?? thrown?.name

// Node, Bun and Deno have names of their own for a refused connection.
const remedyOf = (cause: string | undefined): string =>
  /refused/i.test(cause!)
    ? "Is the server running?"
    : /SSL_(WRONG|PACKET)/.test(cause!)
      ? "The server speaks http."
      : "Check baseUrl and proxies."
