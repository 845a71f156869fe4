/**
 * Mistakes of the program that uses the dispatcher. Faults of a receiver are an `Outcome`, never an error.
 *
 * @since 0.1.0
 */

/**
 * The kind of mistake.
 *
 * - `invalid_options`: an option has an invalid value.
 * - `invalid_request`: a URL that is missing, a member that does not exist, or a header, method, body or deadline that must not
 *   or cannot be sent.
 * - `closed`: the dispatcher was closed before this request.
 * - `defect`: a mistake in the dispatcher; please report it.
 *
 * @category errors
 * @since 0.1.0
 */
export type DispatcherErrorCode = "invalid_options" | "invalid_request" | "closed" | "defect"

/**
 * Thrown by `makeDispatcher` and rejected by `send` of the promise API; a defect in the Effect API.
 *
 * **Details**
 *
 * `message` names the option or the header, never its value, because values can be secrets.
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
