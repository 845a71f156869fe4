/**
 * The options of connections and calls, and what hooks receive. Types only.
 *
 * @module
 * @since 0.1.0
 */
import type { GovoiceError } from "./error.ts"
import type { Fetch, ResponseHeaders, Signal } from "./fetch.ts"

/**
 * The limits of one call. Each overrides the option of the same name of the connection.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions {
  /** Aborts the call, which then rejects with an `AbortedError`. */
  readonly signal?: Signal | undefined

  /**
   * The timeout of one attempt, including reading the response, in milliseconds.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined

  /**
   * The deadline of the call, with all attempts and the delays between them, in milliseconds. If the next delay would end
   * after the deadline, the call rejects with the last error.
   *
   * @default 180_000
   */
  readonly deadlineMs?: number | undefined
}

/**
 * A request, as hooks receive it: without credential and body.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestInfo {
  readonly method: string
  readonly url: string
  /** The number of requests sent for this call, including this one. */
  readonly attempts: number
  readonly idempotencyKey: string | undefined
}

/**
 * The head of a response, as hooks receive it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResponseInfo extends RequestInfo {
  readonly status: number
  readonly requestId: string | undefined
  readonly headers: ResponseHeaders
}

/**
 * A failed attempt and the delay before the next one.
 *
 * @category models
 * @since 0.1.0
 */
export interface RetryInfo extends RequestInfo {
  readonly error: GovoiceError
  readonly delayMs: number
}

/**
 * The options of a connection.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConnectionOptions {
  /** The URL of the service without `/v1`, such as `https://api.example.com`. */
  readonly baseUrl: string

  /**
   * The `fetch` function to use.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: Fetch | undefined

  /**
   * The timeout of one attempt, in milliseconds.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined

  /**
   * The deadline of a call, with all attempts and the delays between them, in milliseconds.
   *
   * @default 180_000
   */
  readonly deadlineMs?: number | undefined

  /**
   * The maximum number of attempts after the first.
   *
   * @default 2
   */
  readonly maxRetries?: number | undefined

  /** Called before each request. Errors of hooks are ignored, and the call does not wait for them. */
  readonly onRequest?: ((info: RequestInfo) => unknown) | undefined

  /** Called when the head of a response has arrived. */
  readonly onResponse?: ((info: ResponseInfo) => unknown) | undefined

  /** Called when an attempt has failed and will be retried. */
  readonly onRetry?: ((info: RetryInfo) => unknown) | undefined
}

/**
 * The options of a connection to the developer API.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeveloperOptions extends ConnectionOptions {
  /** An API key of the organization: `sk_test_…` for the sandbox, `sk_live_…` for live mode. */
  readonly apiKey: string
}
