/**
 * The errors of the client.
 *
 * @module
 * @since 0.1.0
 */
import type { ErrorCode, ErrorType } from "./errorCode.ts"
import type { Invoice } from "./records.ts"

/**
 * The base class of all errors of this package.
 *
 * **Details**
 *
 * Compare `_tag` and `code`, or use {@link isApiError}: `instanceof` fails if two copies of this package are installed, and
 * class names change in a minified bundle.
 *
 * Message, properties and stack contain no API key, token, password or part of an invalid response, so the error can be
 * logged.
 *
 * @category errors
 * @since 0.1.0
 */
export abstract class GovoiceError extends Error {
  /** The tag of the error class. */
  abstract readonly _tag: string

  /** A stable code: of the API for an `ApiError`, otherwise of the error class. */
  abstract readonly code: string

  /** The `Request-Id` of the last response, for reports to the operator. `undefined` if there was no response. */
  declare readonly requestId: string | undefined

  /** Whether the same call may succeed later. A call with another body or idempotency key is another call. */
  readonly retryable: boolean = false

  /** The number of requests sent. 0 for errors of a wait. */
  readonly attempts: number = 0

  /** The URL of the last request, if one was sent. */
  declare readonly url: string | undefined

  /** The idempotency key of a submission. Use it to continue the same submission, also in another process. */
  declare readonly idempotencyKey: string | undefined

  /** For this package and for tests. */
  constructor(message: string, fields?: ErrorFields, options?: { readonly cause?: unknown }) {
    super(message, options)
    Object.assign(this, fields)
  }

  override get name(): string {
    return this._tag
  }
}

/**
 * The properties that the constructors of errors take.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorFields {
  readonly requestId?: string | undefined
  readonly retryable?: boolean | undefined
  readonly attempts?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly type?: ErrorType | undefined
  readonly code?: ErrorCode | undefined
  readonly status?: number | undefined
  readonly param?: string | null | undefined
  readonly docsUrl?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly invoice?: Invoice | undefined
}

/**
 * An error response: any status except 2xx, including redirects.
 *
 * **Details**
 *
 * `message` is for people and may change. If the response is not from the service, such as the error page of a proxy,
 * `code` is `unexpected_response`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ApiError extends GovoiceError {
  readonly _tag = "ApiError"

  /** The stable code of the error. */
  declare readonly code: ErrorCode

  /** The type of the error. */
  declare readonly type: ErrorType

  /** The HTTP status. */
  declare readonly status: number

  /** The parameter or header at fault, if there is one. */
  declare readonly param: string | null

  /** The page about this code: meaning, causes and remedy. `undefined` for `unexpected_response`. */
  declare readonly docsUrl: string | undefined

  /** The delay that `Retry-After` asks for, in milliseconds. */
  declare readonly retryAfterMs: number | undefined
}

/**
 * The connection failed before the response was complete.
 *
 * **Details**
 *
 * The message names host, port, cause and attempts. `cause` is the error of `fetch`. If the response is not HTTP, the
 * `cause` of Node contains a part of it.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionError extends GovoiceError {
  readonly _tag = "ConnectionError"
  readonly code = "connection_error"
}

/**
 * `timeoutMs` or `deadlineMs` has passed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TimeoutError extends GovoiceError {
  readonly _tag = "TimeoutError"
  readonly code = "timeout"

  /** The last known state of the invoice, for calls that wait. */
  declare readonly invoice?: Invoice
}

/**
 * The signal of the call was aborted. `cause` is the reason of the signal.
 *
 * @category errors
 * @since 0.1.0
 */
export class AbortedError extends GovoiceError {
  readonly _tag = "AbortedError"
  readonly code = "aborted"
}

/**
 * The response does not have the form that the API defines, or is larger than any of the API: 64 MiB, 1 MiB for an error. The
 * message names the member at fault, not its value.
 *
 * @category errors
 * @since 0.1.0
 */
export class DecodeError extends GovoiceError {
  readonly _tag = "DecodeError"
  readonly code = "decode_error"
}

/**
 * There will be no receipt, because the invoice was rejected or has failed.
 *
 * @category errors
 * @since 0.1.0
 */
export class UpoUnavailableError extends GovoiceError {
  readonly _tag = "UpoUnavailableError"
  readonly code = "upo_unavailable"

  /** The invoice in its final status. `rejection` or `failure` has the reason. */
  declare readonly invoice: Invoice
}

/**
 * Any error of this package.
 *
 * @category errors
 * @since 0.1.0
 */
export type AnyGovoiceError =
  | ApiError
  | ConnectionError
  | TimeoutError
  | AbortedError
  | DecodeError
  | UpoUnavailableError

/**
 * Returns whether an error is an `ApiError`, with this code if one is given.
 *
 * **Example** (Handling a code)
 *
 * ```ts import.meta.vitest
 * import { ApiError, isApiError } from "@govoice/client"
 *
 * const error = new ApiError("No such invoice for this API key.", {
 *   type: "invalid_request_error",
 *   code: "invoice_not_found",
 *   status: 404
 * })
 *
 * isApiError(error) // => true
 * isApiError(error, "invoice_not_found") // => true
 * isApiError(error, "idempotency_conflict") // => false
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isApiError = <C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C
): error is ApiError & { readonly code: C } =>
  (error as ApiError | undefined)?._tag === "ApiError" && (!code || (error as ApiError).code === code)

/**
 * Returns whether an error is from this package, including another copy of it.
 *
 * @category guards
 * @since 0.1.0
 */
export const isGovoiceError = (error: unknown): error is AnyGovoiceError =>
  !!(error as GovoiceError | undefined)?._tag && "attempts" in (error as GovoiceError)
