/**
 * The codes of the API's errors.
 *
 * Generated from @govoice/api by `test/support/generate.ts`: change it there.
 *
 * @module
 */

/** The families of errors. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "validation_error"
  | "conflict_error"
  | "rate_limit_error"
  | "api_error"
  | (string & {})

/**
 * Stable codes of an `ApiError`. Codes may be added, so a `switch` over them needs a `default`.
 *
 * **Details**
 *
 * - `missing_api_key` (401): No valid API key was given. Send it as 'Authorization: Bearer sk_…'.
 * - `missing_idempotency_key` (400): The Idempotency-Key header is missing. Send a value of your own, unique for each invoice.
 * - `idempotency_conflict` (409): This Idempotency-Key was already used for another request. Use a new key for a new invoice.
 * - `invalid_invoice_xml` (422): invoice_xml is missing or is not a well-formed XML document.
 * - `invalid_sandbox_scenario` (400): The Gov-Sandbox-Scenario header must be one of: accepted, rejected, temporary_failure, delayed.
 * - `upo_not_available` (404): The receipt (UPO) of this invoice cannot be downloaded, or not yet. Wait for invoice.upo_available.
 * - `rate_limit_exceeded` (429): Too many requests. Wait as long as the Retry-After header says.
 * - `api_disabled` (503): The API is disabled for this deployment.
 * - `invalid_metadata` (422): metadata must be an object whose values are strings.
 * - `invalid_idempotency_key` (400): The Idempotency-Key header must have 1 to 255 printable ASCII characters.
 * - `invalid_request_body` (400): The request body must be a JSON object in UTF-8.
 * - `unknown_parameter` (400): The request has a parameter that is not known here.
 * - `invalid_parameter` (422): A parameter is missing or has a value that is not allowed.
 * - `unsupported_media_type` (415): The request body must be sent with Content-Type: application/json.
 * - `request_too_large` (413): The request body is too large.
 * - `not_found` (404): There is nothing at this path. See /docs for what there is.
 * - `method_not_allowed` (405): This path does not take that method. The Allow header names those it takes.
 * - `invoice_not_found` (404): There is no such invoice for this API key.
 * - `live_mode_unavailable` (403): Live mode is not available for this organization. Use a test key (sk_test_…).
 * - `missing_access_token` (401): No valid access token was given. Log in, then send it as 'Authorization: Bearer …'.
 * - `invalid_credentials` (401): The email or the password is wrong.
 * - `invalid_refresh_token` (401): The refresh token is not valid any more. Log in again.
 * - `email_taken` (409): An account with this email exists already.
 * - `signup_disabled` (403): This deployment does not take new accounts.
 * - `organization_not_found` (404): There is no such organization in this account.
 * - `api_key_not_found` (404): There is no such API key in this account.
 * - `webhook_endpoint_not_found` (404): There is no such webhook endpoint in this account.
 * - `unsafe_webhook_url` (422): Webhooks cannot be sent to this URL.
 * - `malformed_request` (400): The request cannot be read as HTTP.
 * - `headers_too_large` (431): The request headers are too large.
 * - `limit_reached` (409): The organization has as many of these as it may have. Delete one first.
 * - `internal_error` (500): Something went wrong on our side. Quote the request id when you report it.
 * - `service_unavailable` (503): The service is not available for the moment. Try again soon.
 * - `unexpected_response`: an answer that is not the service's own, such as the error page of a proxy, or a redirect.
 */
export type ErrorCode =
  | "missing_api_key"
  | "missing_idempotency_key"
  | "idempotency_conflict"
  | "invalid_invoice_xml"
  | "invalid_sandbox_scenario"
  | "upo_not_available"
  | "rate_limit_exceeded"
  | "api_disabled"
  | "invalid_metadata"
  | "invalid_idempotency_key"
  | "invalid_request_body"
  | "unknown_parameter"
  | "invalid_parameter"
  | "unsupported_media_type"
  | "request_too_large"
  | "not_found"
  | "method_not_allowed"
  | "invoice_not_found"
  | "live_mode_unavailable"
  | "missing_access_token"
  | "invalid_credentials"
  | "invalid_refresh_token"
  | "email_taken"
  | "signup_disabled"
  | "organization_not_found"
  | "api_key_not_found"
  | "webhook_endpoint_not_found"
  | "unsafe_webhook_url"
  | "malformed_request"
  | "headers_too_large"
  | "limit_reached"
  | "internal_error"
  | "service_unavailable"
  | "unexpected_response"
  | (string & {})
