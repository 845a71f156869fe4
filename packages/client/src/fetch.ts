/**
 * The parts of `fetch` and `AbortSignal` that the client uses. The types of browsers, Node, Bun, Deno and workers fit, and
 * so does a stub in a test.
 *
 * @module
 * @since 0.1.0
 */

/**
 * The part of an `AbortSignal` that is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Signal {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: "abort", listener: () => void): void
  removeEventListener(type: "abort", listener: () => void): void
}

/**
 * The `AbortSignal` of the platform, or {@link Signal} if its types are not installed.
 *
 * @category models
 * @since 0.1.0
 */
export type PlatformSignal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : SignalOfFetch

// `@cloudflare/workers-types` declares the class so that `globalThis` has no type of it.
type SignalOfFetch = typeof globalThis extends { fetch: (url: string, init: infer Init) => unknown }
  ? NonNullable<Init> extends { signal?: infer S }
    ? NonNullable<S>
    : Signal
  : Signal

/**
 * The `ReadableStream` of the platform, or an iterable of bytes if its types are not installed.
 *
 * @category models
 * @since 0.1.0
 */
export type ByteStream = typeof globalThis extends { ReadableStream: { prototype: infer S } }
  ? S
  : AsyncIterable<Uint8Array>

/**
 * The second argument of `fetch`.
 *
 * @category models
 * @since 0.1.0
 */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  /** Redirects are not followed, because they would send the credential to another URL. */
  readonly redirect: "manual"
  /** Frameworks whose `fetch` stores responses pass on fresh ones only. Absent where the runtime has no such member. */
  readonly cache?: "no-store"
  readonly signal: PlatformSignal
}

/**
 * The part of a `Response` that is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: ResponseHeaders
  /** Where it is a `ReadableStream`, it is read instead of the methods, up to a limit. */
  readonly body?: unknown
  text(): Promise<string>
  arrayBuffer(): Promise<ArrayBuffer>
}

/**
 * The part of `Headers` that is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResponseHeaders {
  get(name: string): string | null
}

/**
 * A `fetch` function. It is called with a URL string and an `init` that has a `signal`.
 *
 * @category models
 * @since 0.1.0
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>
