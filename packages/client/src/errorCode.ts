/**
 * The error codes of the API.
 *
 * Generated from @govoice/api by `test/support/generate.ts`. Do not edit.
 *
 * @module
 * @since 0.1.0
 */

/**
 * The type of an API error.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "validation_error"
  | "conflict_error"
  | "rate_limit_error"
  | "api_error"
  | (string & {})

/**
 * The code of an `ApiError`. Codes are stable. New codes may be added, so a `switch` over them needs a `default`.
 *
 * **Details**
 *
 * - `missing_api_key` (401): No valid API key. Send one as 'Authorization: Bearer sk_…'.
 * - `missing_idempotency_key` (400): The Idempotency-Key header is missing. Send a unique value for each invoice.
 * - `idempotency_conflict` (409): This Idempotency-Key was already used for another request. Use a new key for a new invoice.
 * - `invalid_invoice_xml` (422): invoice_xml is missing, is not well-formed XML, exceeds a limit, or fails a document check.
 * - `invalid_sandbox_scenario` (400): The Gov-Sandbox-Scenario header must be one of: accepted, rejected, temporary_failure, delayed.
 * - `upo_not_available` (404): The receipt (UPO) of this invoice is not available. Wait for the event invoice.upo_available, unless the invoice is rejected or failed.
 * - `verification_not_available` (404): This invoice has no such QR code. See its `verification`.
 * - `pdf_not_available` (404): This invoice has no PDF. Download its document instead.
 * - `rate_limit_exceeded` (429): Too many requests. Wait for the number of seconds in the Retry-After header.
 * - `api_disabled` (503): The API is disabled for this deployment. Try again later.
 * - `invalid_metadata` (422): metadata must be an object whose values are strings.
 * - `invalid_idempotency_key` (400): The Idempotency-Key header must have 1 to 255 printable ASCII characters.
 * - `invalid_request_body` (400): The request body must be a JSON object in UTF-8.
 * - `unknown_parameter` (400): The request has an unknown parameter. Remove it, or correct its name.
 * - `invalid_parameter` (422): A parameter is missing or has an invalid value. Correct the one that param names.
 * - `unsupported_media_type` (415): The request body must be sent with Content-Type: application/json.
 * - `request_too_large` (413): The request body is too large. Send a smaller one.
 * - `request_timeout` (408): The request body arrived too slowly. Send the request again.
 * - `not_found` (404): Unknown path. See /docs.
 * - `method_not_allowed` (405): The path does not allow this method. See the Allow header.
 * - `invoice_not_found` (404): No such invoice for this API key. Check the id (inv_…), and the organization and mode of the key.
 * - `live_mode_unavailable` (403): Live mode is not available for this organization. Use a test key (sk_test_…).
 * - `offline_not_available` (403): The organization has no valid certificate for issuing invoices offline. Store a KSeF certificate of the type Offline.
 * - `missing_access_token` (401): No valid access token. Log in and send it as 'Authorization: Bearer …'.
 * - `invalid_credentials` (401): The email or the password is wrong. Correct them and try again.
 * - `invalid_refresh_token` (401): The refresh token is unknown, expired, revoked or already used. Log in again.
 * - `email_taken` (409): An account with this email already exists. Log in, or use another email.
 * - `signup_disabled` (403): Sign-up is disabled for this deployment. Ask its operator for an account.
 * - `organization_not_found` (404): No such organization in this account. Check the id (org_…) and the account of the login.
 * - `api_key_not_found` (404): No such API key in this account. Check the id (key_…) and the account of the login.
 * - `webhook_endpoint_not_found` (404): No such webhook endpoint in this account. Check the id (we_…) and the account of the login.
 * - `webhook_delivery_not_found` (404): No such delivery for this webhook endpoint. Check the id (wd_…) and the endpoint.
 * - `unsafe_webhook_url` (422): The webhook URL is not allowed. Use a public https URL.
 * - `malformed_request` (400): The request is not valid HTTP, or its headers arrived too slowly. Use an HTTP library, and check any proxy in between.
 * - `headers_too_large` (431): The request headers are too large. Remove those that are not needed.
 * - `cross_site_request` (403): The request came from another site. Send it from the console's own origin.
 * - `limit_reached` (409): The maximum is reached. Delete one you no longer need.
 * - `wrong_cell` (421): The request reached a cell that does not serve this organization. Send it again.
 * - `internal_error` (500): Internal server error. Quote the request id when you report it.
 * - `service_unavailable` (503): The service is temporarily unavailable. Try again later.
 * - `unexpected_response`: the response is not from the service, such as the error page of a proxy, or is a redirect.
 *
 * @category models
 * @since 0.1.0
 */
export type ErrorCode =
  | "missing_api_key"
  | "missing_idempotency_key"
  | "idempotency_conflict"
  | "invalid_invoice_xml"
  | "invalid_sandbox_scenario"
  | "upo_not_available"
  | "verification_not_available"
  | "pdf_not_available"
  | "rate_limit_exceeded"
  | "api_disabled"
  | "invalid_metadata"
  | "invalid_idempotency_key"
  | "invalid_request_body"
  | "unknown_parameter"
  | "invalid_parameter"
  | "unsupported_media_type"
  | "request_too_large"
  | "request_timeout"
  | "not_found"
  | "method_not_allowed"
  | "invoice_not_found"
  | "live_mode_unavailable"
  | "offline_not_available"
  | "missing_access_token"
  | "invalid_credentials"
  | "invalid_refresh_token"
  | "email_taken"
  | "signup_disabled"
  | "organization_not_found"
  | "api_key_not_found"
  | "webhook_endpoint_not_found"
  | "webhook_delivery_not_found"
  | "unsafe_webhook_url"
  | "malformed_request"
  | "headers_too_large"
  | "cross_site_request"
  | "limit_reached"
  | "wrong_cell"
  | "internal_error"
  | "service_unavailable"
  | "unexpected_response"
  | (string & {})
