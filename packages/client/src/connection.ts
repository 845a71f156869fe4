/**
 * The way to the developer API, without the operations: they are functions that take it.
 *
 * @module
 */
import type { GovoiceError } from "./error.ts"
import type { Fetch, ResponseHeaders, Signal } from "./fetch.ts"
import { must } from "./internal/must.ts"
import { createTransport, type Send } from "./internal/transport.ts"

/** Bounds of one call. Each goes before the setting of the same name. */
export interface CallOptions {
  /** Ends the call at once, with an `AbortedError`. */
  readonly signal?: Signal | undefined

  /**
   * How long one attempt may take, in milliseconds, until the answer is read.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined

  /**
   * How long the call may take, in milliseconds, with all attempts and the pauses between them. A pause that would end
   * later is not begun: the call fails with what went wrong last.
   *
   * @default 180_000
   */
  readonly deadlineMs?: number | undefined
}

/** A request, as hooks see it. It has no credential and no body. */
export interface RequestInfo {
  readonly method: string
  readonly url: string
  /** How many requests were sent, this one included. */
  readonly attempts: number
  readonly idempotencyKey: string | undefined
}

/** An answer, as hooks see it: its head. */
export interface ResponseInfo extends RequestInfo {
  readonly status: number
  readonly requestId: string | undefined
  readonly headers: ResponseHeaders
}

/** An attempt that failed, and how long the next one waits. */
export interface RetryInfo extends RequestInfo {
  readonly error: GovoiceError
  readonly delayMs: number
}

/** Where the service is, and how to talk to it. */
export interface ConnectionOptions {
  /** The address of the service, without `/v1`. */
  readonly baseUrl: string

  /**
   * Used in place of the global `fetch`.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: Fetch | undefined

  /**
   * How long one attempt may take, in milliseconds.
   *
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined

  /**
   * How long a call may take, in milliseconds, with all attempts and the pauses between them.
   *
   * @default 180_000
   */
  readonly deadlineMs?: number | undefined

  /**
   * How many attempts may follow the first.
   *
   * @default 2
   */
  readonly maxRetries?: number | undefined

  /** Called before each request. What a hook throws is ignored, and nobody waits for it. */
  readonly onRequest?: ((info: RequestInfo) => unknown) | undefined

  /** Called when the head of an answer has arrived. */
  readonly onResponse?: ((info: ResponseInfo) => unknown) | undefined

  /** Called when an attempt failed and another one will be made. */
  readonly onRetry?: ((info: RetryInfo) => unknown) | undefined
}

/** Where the service is, and the key to call the developer API with. */
export interface DeveloperOptions extends ConnectionOptions {
  /** A key of the organization: `sk_test_…` for the sandbox, `sk_live_…` for live. */
  readonly apiKey: string
}

/** A way to the developer API. What it has is for the functions of this package. */
export interface Connection {
  readonly "~send": Send
  readonly "~api"?: "developer"
}

/**
 * A way to the developer API, for functions such as `submitInvoice`.
 *
 * **When to use**
 *
 * Use in place of `createClient` where the size of a bundle counts: the functions that are not used are not in it.
 *
 * **Example** (Asking for one invoice)
 *
 * ```ts
 * import { createConnection, getInvoice } from "@govoice/client"
 *
 * const connection = createConnection({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * const { status } = await getInvoice(connection, "inv_01m7q5cqg0e6786ptds43fm4k3")
 * ```
 *
 * @throws {TypeError} when `baseUrl` or `apiKey` cannot be one.
 */
export const createConnection = ({ apiKey, ...options }: DeveloperOptions): Connection => {
  // `fetch` would refuse other characters in a header too, and quote them; it would take blanks off the ends.
  must("apiKey", apiKey, /^[!-~]+$/)
  return { "~send": createTransport(options, "/", () => apiKey) }
}
