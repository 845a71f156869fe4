/**
 * The ways in which a call can fail.
 *
 * @module
 */
import type { ErrorCode, ErrorType } from "./errorCode.ts"
import type { Invoice } from "./records.ts"

/**
 * What all errors of this package have in common.
 *
 * **Details**
 *
 * Compare `_tag` and `code`, or use {@link isApiError}: unlike `instanceof` they hold when two copies of this package
 * are installed, and unlike the name of the class they survive a minifier.
 *
 * No message, property or stack contains an API key, a token, a password or a part of an answer that could not be read,
 * so that an error may be logged as it is.
 */
export abstract class GovoiceError extends Error {
  /** Which of the errors this is. */
  abstract readonly _tag: string

  /** A stable code: the one of the API, or the one of this error. */
  abstract readonly code: string

  /** The `Request-Id` of the last answer, which the service finds a request by; `undefined` when there was none. */
  declare readonly requestId: string | undefined

  /** Whether the same call may be made again later. With a new body or a new idempotency key it is another call. */
  readonly retryable: boolean = false

  /** How many requests were sent; 0 where a wait has ended by its bounds or because there is nothing to wait for. */
  readonly attempts: number = 0

  /** Where the last request went, if one was sent. */
  declare readonly url: string | undefined

  /** The key of a submission: with it the same submission can go on, also in another process. */
  declare readonly idempotencyKey: string | undefined

  /** Errors are made by this package; tests may make them too. */
  constructor(message: string, fields?: ErrorFields, options?: { readonly cause?: unknown }) {
    super(message, options)
    Object.assign(this, fields)
  }

  override get name(): string {
    return this._tag
  }
}

/** The properties of the errors, as their constructors take them. */
export interface ErrorFields {
  readonly requestId?: string | undefined
  readonly retryable?: boolean | undefined
  readonly attempts?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly type?: ErrorType | undefined
  readonly code?: ErrorCode | undefined
  readonly status?: number | undefined
  readonly param?: string | null | undefined
  readonly retryAfterMs?: number | undefined
  readonly invoice?: Invoice | undefined
}

/**
 * The service answered with an error, or something on the way did: every status but 2xx, redirects too.
 *
 * **Details**
 *
 * `message` is a sentence for people and may change. Where the answer was not the service's own, as the error page of
 * a proxy is not, `code` is `unexpected_response`.
 */
export class ApiError extends GovoiceError {
  readonly _tag = "ApiError"

  /** The stable code of the error. */
  declare readonly code: ErrorCode

  /** The family of the error. */
  declare readonly type: ErrorType

  /** The HTTP status. */
  declare readonly status: number

  /** The parameter or header at fault, if there is one. */
  declare readonly param: string | null

  /** How long `Retry-After` asks to wait, in milliseconds. */
  declare readonly retryAfterMs: number | undefined
}

/**
 * No answer, or only a part of one: the connection failed. `cause` is what `fetch` said: where the answer was no HTTP,
 * that of Node has a piece of it.
 */
export class ConnectionError extends GovoiceError {
  readonly _tag = "ConnectionError"
  readonly code = "connection_error"
}

/** `timeoutMs` or `deadlineMs` has passed. */
export class TimeoutError extends GovoiceError {
  readonly _tag = "TimeoutError"
  readonly code = "timeout"

  /** Where the invoice stood when it was last seen, if the call was one that waits. */
  declare readonly invoice?: Invoice
}

/** The signal of the call was aborted. `cause` is the reason of the signal. */
export class AbortedError extends GovoiceError {
  readonly _tag = "AbortedError"
  readonly code = "aborted"
}

/** The answer is not what the API promises. The message names the member at fault and never its value. */
export class DecodeError extends GovoiceError {
  readonly _tag = "DecodeError"
  readonly code = "decode_error"
}

/** The receipt cannot come any more: the invoice was rejected or has failed. */
export class UpoUnavailableError extends GovoiceError {
  readonly _tag = "UpoUnavailableError"
  readonly code = "upo_unavailable"

  /** The invoice in its final status; `rejection` or `failure` says why. */
  declare readonly invoice: Invoice
}

/** Any error of this package. */
export type AnyGovoiceError =
  | ApiError
  | ConnectionError
  | TimeoutError
  | AbortedError
  | DecodeError
  | UpoUnavailableError

/**
 * Tells whether an error is an answer of the API, with this code if one is given.
 *
 * **Example** (Telling errors apart)
 *
 * ```ts import.meta.vitest
 * import { ApiError, isApiError } from "@govoice/client"
 *
 * const error = new ApiError("There is no such invoice for this API key.", {
 *   type: "invalid_request_error",
 *   code: "invoice_not_found",
 *   status: 404
 * })
 *
 * isApiError(error) // => true
 * isApiError(error, "invoice_not_found") // => true
 * isApiError(error, "idempotency_conflict") // => false
 * ```
 */
export const isApiError = <C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C
): error is ApiError & { readonly code: C } =>
  (error as ApiError | undefined)?._tag === "ApiError" && (!code || (error as ApiError).code === code)

/** Tells whether an error is one of this package, also of another copy of it. */
export const isGovoiceError = (error: unknown): error is AnyGovoiceError =>
  !!(error as GovoiceError | undefined)?._tag && "attempts" in (error as GovoiceError)
