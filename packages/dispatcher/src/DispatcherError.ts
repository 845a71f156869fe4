/**
 * Mistakes of the program that uses the dispatcher. What a remote host does is never one of them: that is an `Outcome`.
 *
 * @since 0.1.0
 */

/**
 * Which mistake was made.
 *
 * - `invalid_options`: an option could not be read.
 * - `invalid_request`: a header, method, body or deadline that must not or cannot be sent.
 * - `closed`: the dispatcher was closed before this request.
 * - `defect`: the dispatcher itself is at fault; please report it.
 *
 * @category errors
 * @since 0.1.0
 */
export type DispatcherErrorCode = "invalid_options" | "invalid_request" | "closed" | "defect"

/**
 * Thrown by `makeDispatcher` and rejected by `send` of the promise face; a defect in the Effect face.
 *
 * **Details**
 *
 * `message` names the option or the header, never its value, because header values can be secrets.
 *
 * @category errors
 * @since 0.1.0
 */
export class DispatcherError extends Error {
  readonly _tag = "DispatcherError"
  override readonly name = "DispatcherError"
  readonly code: DispatcherErrorCode

  constructor(code: DispatcherErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
