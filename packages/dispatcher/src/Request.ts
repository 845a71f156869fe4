/**
 * What a caller asks to be sent.
 *
 * @since 0.1.0
 */

/**
 * One request.
 *
 * **Details**
 *
 * Headers are sent as given, `Host`, `Connection` and `Content-Length` beside them and no others: no tracing, no user
 * agent, no content type. The framing headers (`Content-Length`, `Transfer-Encoding`, `Trailer`, `TE`), those of the
 * connection (`Connection`, `Keep-Alive`, `Upgrade`, `Expect`, `HTTP2-Settings`, `Proxy-*`) and `Host` cannot be set, and
 * neither names nor values may have CR, LF or NUL: such a request is refused with a `DispatcherError`.
 *
 * **Gotchas**
 *
 * A `Uint8Array` is not copied. Leave it as it is until `send` has ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface DispatchRequest {
  /** An `https:` URL, or an `http:` one where that is allowed. What is wrong with it makes the outcome `Blocked`. */
  readonly url: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * @default "POST"
   */
  readonly method?: "POST" | "PUT" | "PATCH" | "DELETE" | "GET" | undefined
  /**
   * How long it may take to the response head, in milliseconds.
   *
   * @default deadlineMs of the dispatcher
   */
  readonly deadlineMs?: number | undefined
}
