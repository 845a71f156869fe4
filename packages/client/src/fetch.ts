/**
 * What is asked of `fetch` and of `AbortSignal`. The real ones fit, with the types of a browser, of Node, Bun, Deno or
 * a worker; so does whatever a test puts in their place.
 *
 * @module
 */

/** An `AbortSignal`. */
export interface Signal {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: "abort", listener: () => void): void
  removeEventListener(type: "abort", listener: () => void): void
}

/** The `AbortSignal` of the environment that this is compiled in, or {@link Signal} where there is none. */
export type PlatformSignal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : Signal

/** The `ReadableStream` of the environment that this is compiled in, or an iterable of bytes where there is none. */
export type ByteStream = typeof globalThis extends { ReadableStream: { prototype: infer S } }
  ? S
  : AsyncIterable<Uint8Array>

/** The second argument that `fetch` is called with. */
export interface FetchInit {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  /** Redirects are never followed: they would carry the credential elsewhere. */
  readonly redirect: "manual"
  readonly signal: PlatformSignal
}

/** The part of a `Response` that is used. */
export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: ResponseHeaders
  text(): Promise<string>
  arrayBuffer(): Promise<ArrayBuffer>
}

/** The part of `Headers` that is used. */
export interface ResponseHeaders {
  get(name: string): string | null
}

/** A `fetch`. It is called with a URL as text and with an `init` that has a `signal`. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>
