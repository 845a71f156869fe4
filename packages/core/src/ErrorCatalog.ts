/**
 * All errors of the API, in one table.
 *
 * The error envelope, the OpenAPI document and the documentation pages are derived from it. Messages may change; codes,
 * types and statuses do not (see VERSIONING.md).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The types of errors.
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
 * One row of the catalog.
 *
 * **Details**
 *
 * `param` is the parameter or header at fault; `"*"` means that each response names it. `message` is the default: a
 * response may carry a more precise one.
 *
 * @category models
 * @since 0.1.0
 */
export interface CatalogEntry {
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
 * The catalog, by code.
 *
 * @category constants
 * @since 0.1.0
 */
// prettier-ignore
export const catalog = {
  missing_api_key:            row("authentication_error",  401, null, false, "No valid API key. Send one as 'Authorization: Bearer sk_…'."),
  missing_idempotency_key:    row("invalid_request_error", 400, "Idempotency-Key", false, "The Idempotency-Key header is missing. Send a unique value for each invoice."),
  idempotency_conflict:       row("conflict_error",        409, "Idempotency-Key", false, "This Idempotency-Key was already used for another request. Use a new key for a new invoice."),
  invalid_invoice_xml:        row("validation_error",      422, "invoice_xml", false, "invoice_xml is missing, is not well-formed XML, exceeds a limit, or fails a document check."),
  invalid_sandbox_scenario:   row("invalid_request_error", 400, "Gov-Sandbox-Scenario", false, "The Gov-Sandbox-Scenario header must be one of: accepted, rejected, temporary_failure, delayed."),
  upo_not_available:          row("invalid_request_error", 404, null, true, "The receipt (UPO) of this invoice is not available. Wait for the event invoice.upo_available, unless the invoice is rejected or failed."),
  verification_not_available: row("invalid_request_error", 404, null, false, "This invoice has no such QR code. See its `verification`."),
  pdf_not_available:          row("invalid_request_error", 404, null, false, "This invoice has no PDF. Download its document instead."),
  rate_limit_exceeded:        row("rate_limit_error",      429, null, true, "Too many requests. Wait for the number of seconds in the Retry-After header."),
  api_disabled:               row("api_error",             503, null, true, "The API is disabled for this deployment. Try again later."),
  invalid_metadata:           row("validation_error",      422, "metadata", false, "metadata must be an object whose values are strings."),
  invalid_idempotency_key:    row("invalid_request_error", 400, "Idempotency-Key", false, "The Idempotency-Key header must have 1 to 255 printable ASCII characters."),
  invalid_request_body:       row("invalid_request_error", 400, null, false, "The request body must be a JSON object in UTF-8."),
  unknown_parameter:          row("invalid_request_error", 400, "*", false, "The request has an unknown parameter. Remove it, or correct its name."),
  invalid_parameter:          row("validation_error",      422, "*", false, "A parameter is missing or has an invalid value. Correct the one that param names."),
  unsupported_media_type:     row("invalid_request_error", 415, "Content-Type", false, "The request body must be sent with Content-Type: application/json."),
  request_too_large:          row("invalid_request_error", 413, null, false, "The request body is too large. Send a smaller one."),
  request_timeout:            row("invalid_request_error", 408, null, true, "The request body arrived too slowly. Send the request again."),
  not_found:                  row("invalid_request_error", 404, null, false, "Unknown path. See /docs."),
  method_not_allowed:         row("invalid_request_error", 405, null, false, "The path does not allow this method. See the Allow header."),
  invoice_not_found:          row("invalid_request_error", 404, null, false, "No such invoice for this API key. Check the id (inv_…), and the organization and mode of the key."),
  live_mode_unavailable:      row("invalid_request_error", 403, null, false, "Live mode is not available for this organization. Use a test key (sk_test_…)."),
  offline_not_available:      row("invalid_request_error", 403, null, false, "The organization has no valid certificate for issuing invoices offline. Store a KSeF certificate of the type Offline."),
  missing_access_token:       row("authentication_error",  401, null, false, "No valid access token. Log in and send it as 'Authorization: Bearer …'."),
  invalid_credentials:        row("authentication_error",  401, null, false, "The email or the password is wrong. Correct them and try again."),
  invalid_refresh_token:      row("authentication_error",  401, null, false, "The refresh token is unknown, expired, revoked or already used. Log in again."),
  email_taken:                row("conflict_error",        409, "email", false, "An account with this email already exists. Log in, or use another email."),
  signup_disabled:            row("invalid_request_error", 403, null, false, "Sign-up is disabled for this deployment. Ask its operator for an account."),
  organization_not_found:     row("invalid_request_error", 404, null, false, "No such organization in this account. Check the id (org_…) and the account of the login."),
  api_key_not_found:          row("invalid_request_error", 404, null, false, "No such API key in this account. Check the id (key_…) and the account of the login."),
  webhook_endpoint_not_found: row("invalid_request_error", 404, null, false, "No such webhook endpoint in this account. Check the id (we_…) and the account of the login."),
  webhook_delivery_not_found: row("invalid_request_error", 404, null, false, "No such delivery for this webhook endpoint. Check the id (wd_…) and the endpoint."),
  unsafe_webhook_url:         row("validation_error",      422, "url", false, "The webhook URL is not allowed. Use a public https URL."),
  malformed_request:          row("invalid_request_error", 400, null, false, "The request is not valid HTTP, or its headers arrived too slowly. Use an HTTP library, and check any proxy in between."),
  headers_too_large:          row("invalid_request_error", 431, null, false, "The request headers are too large. Remove those that are not needed."),
  cross_site_request:         row("invalid_request_error", 403, null, false, "The request came from another site. Send it from the console's own origin."),
  limit_reached:              row("conflict_error",        409, null, false, "The maximum is reached. Delete one you no longer need."),
  wrong_cell:                 row("invalid_request_error", 421, null, true, "The request reached a cell that does not serve this organization. Send it again."),
  internal_error:             row("api_error",             500, null, true, "Internal server error. Quote the request id when you report it."),
  service_unavailable:        row("api_error",             503, null, true, "The service is temporarily unavailable. Try again later.")
} as const satisfies Readonly<Record<string, CatalogEntry>>

/**
 * A stable error code.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorCode = keyof typeof catalog

/**
 * All codes, in the order of the table.
 *
 * @category constants
 * @since 0.1.0
 */
export const codes = Object.keys(catalog) as ReadonlyArray<ErrorCode>
