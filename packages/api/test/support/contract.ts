/**
 * The contract, written a second time by hand. A change of the declarations requires a change here, and
 * a note in VERSIONING.md if it breaks a caller.
 */

/** The operations: credentials, the status of success, and the codes in addition to those of all endpoints. */
export const operations: Readonly<
  Record<string, { readonly auth: "key" | "token" | "none"; readonly status: number; readonly codes: string }>
> = {
  "GET /v1/me": { auth: "key", status: 200, codes: "" },
  "POST /v1/invoices": {
    auth: "key",
    status: 201,
    codes:
      "missing_idempotency_key invalid_idempotency_key idempotency_conflict invalid_sandbox_scenario invalid_invoice_xml invalid_metadata live_mode_unavailable offline_not_available invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/invoices": { auth: "key", status: 200, codes: "unknown_parameter invalid_parameter" },
  "GET /v1/invoices/{id}": { auth: "key", status: 200, codes: "invoice_not_found" },
  "GET /v1/invoices/{id}/upo": { auth: "key", status: 200, codes: "invoice_not_found upo_not_available" },
  "GET /v1/invoices/{id}/document": { auth: "key", status: 200, codes: "invoice_not_found" },
  "GET /v1/invoices/{id}/pdf": { auth: "key", status: 200, codes: "invoice_not_found pdf_not_available" },
  "GET /v1/invoices/{id}/qr": {
    auth: "key",
    status: 200,
    codes: "invoice_not_found verification_not_available unknown_parameter invalid_parameter"
  },
  "POST /v1/control-plane/accounts": {
    auth: "none",
    status: 201,
    codes:
      "email_taken signup_disabled rate_limit_exceeded invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "POST /v1/control-plane/auth/login": {
    auth: "none",
    status: 200,
    codes:
      "invalid_credentials rate_limit_exceeded invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "POST /v1/control-plane/auth/refresh": {
    auth: "none",
    status: 200,
    codes:
      "invalid_refresh_token rate_limit_exceeded invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "POST /v1/control-plane/auth/logout": {
    auth: "none",
    status: 204,
    codes:
      "rate_limit_exceeded invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "POST /v1/control-plane/auth/logout-all": { auth: "token", status: 204, codes: "" },
  "PUT /v1/control-plane/account/password": {
    auth: "token",
    status: 204,
    codes:
      "invalid_credentials invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/account": { auth: "token", status: 200, codes: "" },
  "POST /v1/control-plane/organizations": {
    auth: "token",
    status: 201,
    codes:
      "limit_reached invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations": { auth: "token", status: 200, codes: "unknown_parameter invalid_parameter" },
  "GET /v1/control-plane/organizations/{org_id}": {
    auth: "token",
    status: 200,
    codes: "organization_not_found"
  },
  "PATCH /v1/control-plane/organizations/{org_id}": {
    auth: "token",
    status: 200,
    codes:
      "organization_not_found invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "PUT /v1/control-plane/organizations/{org_id}/gateway-credential": {
    auth: "token",
    status: 204,
    codes:
      "organization_not_found invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/gateway-credential": {
    auth: "token",
    status: 200,
    codes: "organization_not_found"
  },
  "DELETE /v1/control-plane/organizations/{org_id}/gateway-credential": {
    auth: "token",
    status: 204,
    codes: "organization_not_found"
  },
  "PUT /v1/control-plane/organizations/{org_id}/offline-certificate": {
    auth: "token",
    status: 204,
    codes:
      "organization_not_found invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/offline-certificate": {
    auth: "token",
    status: 200,
    codes: "organization_not_found"
  },
  "DELETE /v1/control-plane/organizations/{org_id}/offline-certificate": {
    auth: "token",
    status: 204,
    codes: "organization_not_found"
  },
  "POST /v1/control-plane/organizations/{org_id}/api-keys": {
    auth: "token",
    status: 201,
    codes:
      "organization_not_found limit_reached invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/api-keys": {
    auth: "token",
    status: 200,
    codes: "organization_not_found unknown_parameter invalid_parameter"
  },
  "DELETE /v1/control-plane/api-keys/{key_id}": {
    auth: "token",
    status: 204,
    codes: "api_key_not_found"
  },
  "POST /v1/control-plane/organizations/{org_id}/webhook-endpoints": {
    auth: "token",
    status: 201,
    codes:
      "organization_not_found unsafe_webhook_url limit_reached invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/webhook-endpoints": {
    auth: "token",
    status: 200,
    codes: "organization_not_found unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}": {
    auth: "token",
    status: 200,
    codes: "webhook_endpoint_not_found"
  },
  "PATCH /v1/control-plane/webhook-endpoints/{endpoint_id}": {
    auth: "token",
    status: 200,
    codes:
      "webhook_endpoint_not_found unsafe_webhook_url invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "DELETE /v1/control-plane/webhook-endpoints/{endpoint_id}": {
    auth: "token",
    status: 204,
    codes: "webhook_endpoint_not_found"
  },
  "POST /v1/control-plane/webhook-endpoints/{endpoint_id}/rotate-secret": {
    auth: "token",
    status: 200,
    codes:
      "webhook_endpoint_not_found invalid_request_body unsupported_media_type request_too_large request_timeout unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}/deliveries": {
    auth: "token",
    status: 200,
    codes: "webhook_endpoint_not_found unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/live-status": {
    auth: "token",
    status: 200,
    codes: "organization_not_found"
  },
  "GET /v1/control-plane/organizations/{org_id}/overview": {
    auth: "token",
    status: 200,
    codes: "organization_not_found unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}/delivery-stats": {
    auth: "token",
    status: 200,
    codes: "webhook_endpoint_not_found unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/deliveries": {
    auth: "token",
    status: 200,
    codes: "organization_not_found unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}": {
    auth: "token",
    status: 200,
    codes: "webhook_endpoint_not_found webhook_delivery_not_found"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}": {
    auth: "token",
    status: 200,
    codes: "organization_not_found invoice_not_found"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/upo": {
    auth: "token",
    status: 200,
    codes: "organization_not_found invoice_not_found upo_not_available"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/document": {
    auth: "token",
    status: 200,
    codes: "organization_not_found invoice_not_found"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/pdf": {
    auth: "token",
    status: 200,
    codes: "organization_not_found invoice_not_found pdf_not_available"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/qr": {
    auth: "token",
    status: 200,
    codes: "organization_not_found invoice_not_found verification_not_available unknown_parameter invalid_parameter"
  },
  "GET /v1/control-plane/organizations/{org_id}/invoices": {
    auth: "token",
    status: 200,
    codes: "organization_not_found unknown_parameter invalid_parameter"
  }
}

/** The codes of all endpoints, by credentials. */
export const everyEndpoint = {
  key: "missing_api_key rate_limit_exceeded api_disabled wrong_cell internal_error service_unavailable",
  token: "missing_access_token rate_limit_exceeded api_disabled wrong_cell internal_error service_unavailable",
  none: "api_disabled wrong_cell internal_error service_unavailable"
} as const

/** The codes of any path. */
export const anyPath = "not_found method_not_allowed malformed_request headers_too_large"

/** The codes that no operation of the document returns: the session routes of the console are outside `/v1`. */
export const undocumented = ["cross_site_request"]

/** The catalog: code → type, status, retryable. */
export const catalog: Readonly<Record<string, readonly [type: string, status: number, retryable: boolean]>> = {
  missing_api_key: ["authentication_error", 401, false],
  missing_idempotency_key: ["invalid_request_error", 400, false],
  idempotency_conflict: ["conflict_error", 409, false],
  invalid_invoice_xml: ["validation_error", 422, false],
  invalid_sandbox_scenario: ["invalid_request_error", 400, false],
  upo_not_available: ["invalid_request_error", 404, true],
  verification_not_available: ["invalid_request_error", 404, false],
  pdf_not_available: ["invalid_request_error", 404, false],
  rate_limit_exceeded: ["rate_limit_error", 429, true],
  api_disabled: ["api_error", 503, true],
  invalid_metadata: ["validation_error", 422, false],
  invalid_idempotency_key: ["invalid_request_error", 400, false],
  invalid_request_body: ["invalid_request_error", 400, false],
  unknown_parameter: ["invalid_request_error", 400, false],
  invalid_parameter: ["validation_error", 422, false],
  unsupported_media_type: ["invalid_request_error", 415, false],
  request_too_large: ["invalid_request_error", 413, false],
  request_timeout: ["invalid_request_error", 408, true],
  not_found: ["invalid_request_error", 404, false],
  method_not_allowed: ["invalid_request_error", 405, false],
  invoice_not_found: ["invalid_request_error", 404, false],
  live_mode_unavailable: ["invalid_request_error", 403, false],
  offline_not_available: ["invalid_request_error", 403, false],
  missing_access_token: ["authentication_error", 401, false],
  invalid_credentials: ["authentication_error", 401, false],
  invalid_refresh_token: ["authentication_error", 401, false],
  email_taken: ["conflict_error", 409, false],
  signup_disabled: ["invalid_request_error", 403, false],
  organization_not_found: ["invalid_request_error", 404, false],
  api_key_not_found: ["invalid_request_error", 404, false],
  webhook_endpoint_not_found: ["invalid_request_error", 404, false],
  webhook_delivery_not_found: ["invalid_request_error", 404, false],
  unsafe_webhook_url: ["validation_error", 422, false],
  malformed_request: ["invalid_request_error", 400, false],
  headers_too_large: ["invalid_request_error", 431, false],
  cross_site_request: ["invalid_request_error", 403, false],
  limit_reached: ["conflict_error", 409, false],
  wrong_cell: ["invalid_request_error", 421, true],
  internal_error: ["api_error", 500, true],
  service_unavailable: ["api_error", 503, true]
}

const endpoint =
  "id object organization_id url description|null event_types enabled disabled_reason|null failing_since|null standard_webhooks modes headers max_in_flight|null next_secret_at|null created_at updated_at"

/** The members of each record. All are required, no others are allowed, and `|null` marks nullable ones. */
export const records: Readonly<Record<string, string>> = {
  Invoice:
    "id object mode status scenario|null metadata document|null verification|null invoicing_mode official_mode|null send_by|null corrects|null warnings official_number|null rejection|null failure|null upo_available attempt_count next_attempt_at|null created_at updated_at submitted_at|null completed_at|null",
  WebhookDelivery:
    "id object event_id event_type endpoint_id status attempt_count last_http_status|null last_error_summary|null next_retry_at|null created_at updated_at last_attempted_at|null delivered_at|null",
  WebhookDeliveryStats: "object endpoint_id window bucket_seconds generated_at now buckets",
  DeliveryBucket: "start total retrying failed endpoint_disabled capped",
  OrganizationOverview:
    "object organization_id window bucket_seconds generated_at endpoints limited_since|null notices invoices",
  OwnerNotice: "type endpoint_id|null since|null expires_at|null",
  LiveStatus: "object organization_id available live_mode environment|null waiting undecided limits",
  CallLimit: "group used per_hour|null blocked_until|null",
  Event: "id object type mode created_at data",
  Me: "object id mode name|null last4 created_at organization live_mode_available",
  Account: "id object email created_at",
  Organization: "id object name gateway_credential created_at",
  GatewayCredential:
    "object present type|null context|null environment|null expires_at|null state|null checked_at|null refusal|null updated_at|null",
  OfflineCertificate:
    "object present environment|null serial_number|null subject|null valid_from|null valid_until|null state|null updated_at|null",
  TokenPair: "access_token token_type expires_in refresh_token refresh_expires_in",
  InvoiceList: "object data has_more next_cursor|null",
  OrganizationList: "object data has_more next_cursor|null",
  ApiKeyList: "object data has_more next_cursor|null",
  WebhookEndpointList: "object data has_more next_cursor|null",
  WebhookDeliveryList: "object data has_more next_cursor|null",
  ApiKey: "id object organization_id mode name|null last4 created_at expires_at|null",
  NewApiKey: "id object organization_id mode name|null last4 created_at expires_at|null secret",
  WebhookEndpoint: endpoint,
  NewWebhookEndpoint: `${endpoint} secret`,
  RotatedWebhookEndpoint: `${endpoint} secret secret_activates_at`
}

/** The members of each request body. A question mark marks optional ones, a bar separates alternatives. */
export const bodies: Readonly<Record<string, string>> = {
  "POST /v1/invoices": "invoice_xml metadata? invoicing_mode? corrects_invoice_id?",
  "POST /v1/control-plane/accounts": "email password",
  "POST /v1/control-plane/auth/login": "email password",
  "POST /v1/control-plane/auth/refresh": "refresh_token",
  "POST /v1/control-plane/auth/logout": "refresh_token",
  "PUT /v1/control-plane/account/password": "current_password new_password",
  "POST /v1/control-plane/organizations": "name",
  "PATCH /v1/control-plane/organizations/{org_id}": "name?",
  "PUT /v1/control-plane/organizations/{org_id}/gateway-credential":
    "type certificate private_key private_key_password? context | type? token context expires_at?",
  "PUT /v1/control-plane/organizations/{org_id}/offline-certificate": "certificate private_key? private_key_password?",
  "POST /v1/control-plane/organizations/{org_id}/api-keys": "mode name? expires_at?",
  "POST /v1/control-plane/organizations/{org_id}/webhook-endpoints":
    "url event_types description? enabled? standard_webhooks? modes? headers? max_in_flight?",
  "PATCH /v1/control-plane/webhook-endpoints/{endpoint_id}":
    "url? event_types? description? enabled? standard_webhooks? modes? headers? max_in_flight?",
  "POST /v1/control-plane/webhook-endpoints/{endpoint_id}/rotate-secret": "activates_in_seconds?"
}

/** The query parameters and request headers of operations. */
export const parameters: Readonly<Record<string, string>> = {
  "POST /v1/invoices": "Idempotency-Key Gov-Sandbox-Scenario? Gov-Sandbox-Checks?",
  "GET /v1/invoices":
    "limit? cursor? order? status? created_after? created_before? number? official_number? buyer_tax_id? seller_tax_id? metadata?",
  "GET /v1/invoices/{id}/upo": "If-None-Match?",
  "GET /v1/invoices/{id}/document": "If-None-Match?",
  "GET /v1/invoices/{id}/pdf": "If-None-Match?",
  "GET /v1/invoices/{id}/qr": "If-None-Match? code? format? label?",
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/upo": "If-None-Match?",
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/document": "If-None-Match?",
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/pdf": "If-None-Match?",
  "GET /v1/control-plane/organizations/{org_id}/invoices/{invoice_id}/qr": "If-None-Match? code? format? label?",
  "GET /v1/control-plane/organizations": "limit? cursor?",
  "GET /v1/control-plane/organizations/{org_id}/api-keys": "limit? cursor?",
  "GET /v1/control-plane/organizations/{org_id}/webhook-endpoints": "limit? cursor?",
  "GET /v1/control-plane/organizations/{org_id}/invoices":
    "limit? cursor? status? mode? created_after? created_before? number? official_number? buyer_tax_id? seller_tax_id? metadata? event_id? idempotency_key?",
  "GET /v1/control-plane/organizations/{org_id}/overview": "window?",
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}/delivery-stats": "window?",
  "GET /v1/control-plane/organizations/{org_id}/deliveries":
    "limit? cursor? status? event_type? event_id? invoice_id? created_after? created_before?",
  "GET /v1/control-plane/webhook-endpoints/{endpoint_id}/deliveries":
    "limit? cursor? status? event_type? event_id? invoice_id? created_after? created_before?"
}

/** The documented limits of members. */
export const bounds: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  NewAccount: { email: { minLength: 3, maxLength: 254 }, password: { minLength: 12, maxLength: 128 } },
  Credentials: { email: { minLength: 1, maxLength: 254 }, password: { minLength: 1, maxLength: 128 } },
  PasswordChange: {
    current_password: { minLength: 1, maxLength: 128 },
    new_password: { minLength: 12, maxLength: 128 }
  },
  RefreshToken: { refresh_token: { minLength: 1, maxLength: 512 } },
  OrganizationName: { name: { minLength: 1, maxLength: 200 } },
  OrganizationChange: { name: { minLength: 1, maxLength: 200 } },
  KsefTokenCredential: { token: { minLength: 1, maxLength: 160 } },
  CertificateCredential: {
    certificate: { minLength: 1, maxLength: 16_384 },
    private_key: { minLength: 1, maxLength: 16_384 }
  },
  OfflineCertificateRequest: { certificate: { minLength: 1, maxLength: 16_384 } },
  WebhookEndpointRequest: { url: { maxLength: 2048 }, event_types: { minItems: 1, maxItems: 6, uniqueItems: true } },
  WebhookEndpointChange: { url: { maxLength: 2048 }, event_types: { minItems: 1, maxItems: 6, uniqueItems: true } },
  SecretRotation: { activates_in_seconds: { minimum: 0, maximum: 604_800 } }
}
