/**
 * Every error that the API can answer with, in one table.
 *
 * The envelope on the wire, the OpenAPI document and the pages of the documentation are derived from it. What a message
 * says may change; codes, types and statuses do not (see VERSIONING.md).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The families of errors.
 *
 * @category models
 * @since 0.1.0
 */
export const ErrorType = Schema.Literals([
  "invalid_request_error",
  "authentication_error",
  "validation_error",
  "conflict_error",
  "rate_limit_error",
  "api_error"
])

/**
 * Type of a decoded `ErrorType`.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorType = typeof ErrorType.Type

/**
 * One row of the catalogue.
 *
 * **Details**
 *
 * `param` is the parameter or header at fault; `"*"` stands for the one that the request got wrong, named in each answer.
 * `message` is said when nothing more exact is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface CatalogueEntry {
  readonly type: ErrorType
  readonly status: number
  readonly param: string | null
  readonly retryable: boolean
  readonly message: string
}

const row = <
  const Type extends ErrorType,
  const Status extends number,
  const Param extends string | null,
  const Retryable extends boolean
>(
  type: Type,
  status: Status,
  param: Param,
  retryable: Retryable,
  message: string
) => ({ type, status, param, retryable, message })

/**
 * The catalogue: code by code.
 *
 * @category constants
 * @since 0.1.0
 */
// prettier-ignore
export const catalogue = {
  missing_api_key:            row("authentication_error",  401, null, false, "No valid API key was given. Send it as 'Authorization: Bearer sk_…'."),
  missing_idempotency_key:    row("invalid_request_error", 400, "Idempotency-Key", false, "The Idempotency-Key header is missing. Send a value of your own, unique for each invoice."),
  idempotency_conflict:       row("conflict_error",        409, "Idempotency-Key", false, "This Idempotency-Key was already used for another request. Use a new key for a new invoice."),
  invalid_invoice_xml:        row("validation_error",      422, "invoice_xml", false, "invoice_xml is missing or is not a well-formed XML document."),
  invalid_sandbox_scenario:   row("invalid_request_error", 400, "Gov-Sandbox-Scenario", false, "The Gov-Sandbox-Scenario header must be one of: accepted, rejected, temporary_failure, delayed."),
  upo_not_available:          row("invalid_request_error", 404, null, true, "The receipt (UPO) of this invoice cannot be downloaded, or not yet. Wait for invoice.upo_available."),
  rate_limit_exceeded:        row("rate_limit_error",      429, null, true, "Too many requests. Wait as long as the Retry-After header says."),
  api_disabled:               row("api_error",             503, null, true, "The API is disabled for this deployment."),
  invalid_metadata:           row("validation_error",      422, "metadata", false, "metadata must be an object whose values are strings."),
  invalid_idempotency_key:    row("invalid_request_error", 400, "Idempotency-Key", false, "The Idempotency-Key header must have 1 to 255 printable ASCII characters."),
  invalid_request_body:       row("invalid_request_error", 400, null, false, "The request body must be a JSON object in UTF-8."),
  unknown_parameter:          row("invalid_request_error", 400, "*", false, "The request has a parameter that is not known here."),
  invalid_parameter:          row("validation_error",      422, "*", false, "A parameter is missing or has a value that is not allowed."),
  unsupported_media_type:     row("invalid_request_error", 415, "Content-Type", false, "The request body must be sent with Content-Type: application/json."),
  request_too_large:          row("invalid_request_error", 413, null, false, "The request body is too large."),
  not_found:                  row("invalid_request_error", 404, null, false, "There is nothing at this path. See /docs for what there is."),
  method_not_allowed:         row("invalid_request_error", 405, null, false, "This path does not take that method. The Allow header names those it takes."),
  invoice_not_found:          row("invalid_request_error", 404, null, false, "There is no such invoice for this API key."),
  live_mode_unavailable:      row("invalid_request_error", 403, null, false, "Live mode is not available for this organization. Use a test key (sk_test_…)."),
  missing_access_token:       row("authentication_error",  401, null, false, "No valid access token was given. Log in, then send it as 'Authorization: Bearer …'."),
  invalid_credentials:        row("authentication_error",  401, null, false, "The email or the password is wrong."),
  invalid_refresh_token:      row("authentication_error",  401, null, false, "The refresh token is not valid any more. Log in again."),
  email_taken:                row("conflict_error",        409, "email", false, "An account with this email exists already."),
  signup_disabled:            row("invalid_request_error", 403, null, false, "This deployment does not take new accounts."),
  organization_not_found:     row("invalid_request_error", 404, null, false, "There is no such organization in this account."),
  api_key_not_found:          row("invalid_request_error", 404, null, false, "There is no such API key in this account."),
  webhook_endpoint_not_found: row("invalid_request_error", 404, null, false, "There is no such webhook endpoint in this account."),
  unsafe_webhook_url:         row("validation_error",      422, "url", false, "Webhooks cannot be sent to this URL."),
  malformed_request:          row("invalid_request_error", 400, null, false, "The request cannot be read as HTTP."),
  headers_too_large:          row("invalid_request_error", 431, null, false, "The request headers are too large."),
  limit_reached:              row("conflict_error",        409, null, false, "The organization has as many of these as it may have. Delete one first."),
  internal_error:             row("api_error",             500, null, true, "Something went wrong on our side. Quote the request id when you report it."),
  service_unavailable:        row("api_error",             503, null, true, "The service is not available for the moment. Try again soon.")
} as const satisfies Readonly<Record<string, CatalogueEntry>>

/**
 * A stable error code.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorCode = keyof typeof catalogue

/**
 * All codes, in the order of the table.
 *
 * @category constants
 * @since 0.1.0
 */
export const codes = Object.keys(catalogue) as ReadonlyArray<ErrorCode>
