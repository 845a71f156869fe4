/**
 * The request that a caller passes to `send`.
 *
 * @since 0.1.0
 */

/**
 * One request.
 *
 * **Details**
 *
 * Headers are sent as given. The dispatcher adds `Host`, `Connection` and `Content-Length` and nothing else: no tracing, no
 * user agent, no content type. The framing headers (`Content-Length`, `Transfer-Encoding`, `Trailer`, `TE`), those of the
 * connection (`Connection`, `Keep-Alive`, `Upgrade`, `Expect`, `HTTP2-Settings`, `Proxy-*`) and `Host` cannot be set, and
 * neither names nor values may contain CR, LF or NUL: such a request is rejected with a `DispatcherError`.
 *
 * **Gotchas**
 *
 * A `Uint8Array` is not copied. Do not change it before `send` has ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface DispatchRequest {
  /** An `https:` URL, or an `http:` URL where that is allowed. An invalid URL makes the outcome `Blocked`. */
  readonly url: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * @default "POST"
   */
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE" | "GET" | undefined
  /**
   * How long the request may take, up to the response head, in milliseconds.
   *
   * @default deadlineMs of the dispatcher
   */
  readonly deadlineMs?: number | undefined
}
