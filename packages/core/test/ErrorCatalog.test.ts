import { assert, describe, it } from "@effect/vitest"
import { ErrorCatalog } from "../src/index.ts"

const { catalog, codes } = ErrorCatalog

type Row = readonly [code: string, type: string, status: number, param: string | null, retryable: boolean]

// The catalog of the contract, written a second time. "*" means that each response names the parameter.
// prettier-ignore
const contract: ReadonlyArray<Row> = [
  ["missing_api_key",            "authentication_error",  401, null,                   false],
  ["missing_idempotency_key",    "invalid_request_error", 400, "Idempotency-Key",      false],
  ["idempotency_conflict",       "conflict_error",        409, "Idempotency-Key",      false],
  ["invalid_invoice_xml",        "validation_error",      422, "invoice_xml",          false],
  ["invalid_sandbox_scenario",   "invalid_request_error", 400, "Gov-Sandbox-Scenario", false],
  ["upo_not_available",          "invalid_request_error", 404, null,                   true],
  ["verification_not_available", "invalid_request_error", 404, null,                   false],
  ["pdf_not_available",          "invalid_request_error", 404, null,                   false],
  ["rate_limit_exceeded",        "rate_limit_error",      429, null,                   true],
  ["api_disabled",               "api_error",             503, null,                   true],
  ["invalid_metadata",           "validation_error",      422, "metadata",             false],
  ["invalid_idempotency_key",    "invalid_request_error", 400, "Idempotency-Key",      false],
  ["invalid_request_body",       "invalid_request_error", 400, null,                   false],
  ["unknown_parameter",          "invalid_request_error", 400, "*",                    false],
  ["invalid_parameter",          "validation_error",      422, "*",                    false],
  ["unsupported_media_type",     "invalid_request_error", 415, "Content-Type",         false],
  ["request_too_large",          "invalid_request_error", 413, null,                   false],
  ["request_timeout",            "invalid_request_error", 408, null,                   true],
  ["not_found",                  "invalid_request_error", 404, null,                   false],
  ["method_not_allowed",         "invalid_request_error", 405, null,                   false],
  ["invoice_not_found",          "invalid_request_error", 404, null,                   false],
  ["live_mode_unavailable",      "invalid_request_error", 403, null,                   false],
  ["offline_not_available",      "invalid_request_error", 403, null,                   false],
  ["missing_access_token",       "authentication_error",  401, null,                   false],
  ["invalid_credentials",        "authentication_error",  401, null,                   false],
  ["invalid_refresh_token",      "authentication_error",  401, null,                   false],
  ["email_taken",                "conflict_error",        409, "email",                false],
  ["signup_disabled",            "invalid_request_error", 403, null,                   false],
  ["organization_not_found",     "invalid_request_error", 404, null,                   false],
  ["api_key_not_found",          "invalid_request_error", 404, null,                   false],
  ["webhook_endpoint_not_found", "invalid_request_error", 404, null,                   false],
  ["webhook_delivery_not_found", "invalid_request_error", 404, null,                   false],
  ["unsafe_webhook_url",         "validation_error",      422, "url",                  false],
  ["malformed_request",          "invalid_request_error", 400, null,                   false],
  ["headers_too_large",          "invalid_request_error", 431, null,                   false],
  ["cross_site_request",         "invalid_request_error", 403, null,                   false],
  ["limit_reached",              "conflict_error",        409, null,                   false],
  ["wrong_cell",                 "invalid_request_error", 421, null,                   true],
  ["internal_error",             "api_error",             500, null,                   true],
  ["service_unavailable",        "api_error",             503, null,                   true]
]

describe("ErrorCatalog", () => {
  it("has the codes of the contract, in order", () => {
    assert.deepStrictEqual<ReadonlyArray<string>>(
      codes,
      contract.map(([code]) => code)
    )
  })

  it.each(contract)("%s is a %s with status %i", (code, type, status, param, retryable) => {
    const { message: _, ...row } = catalog[code as ErrorCatalog.ErrorCode]
    assert.deepStrictEqual<object>(row, { type, status, param, retryable })
  })

  it("has the six types of the specification", () => {
    assert.deepStrictEqual([...ErrorCatalog.ErrorType.literals].sort(), [
      "api_error",
      "authentication_error",
      "conflict_error",
      "invalid_request_error",
      "rate_limit_error",
      "validation_error"
    ])
  })

  it("has one status for each of the types authentication, conflict, validation and rate limit", () => {
    const statuses = (type: ErrorCatalog.ErrorType) => [
      ...new Set(Object.values(catalog).flatMap((row) => (row.type === type ? [row.status] : [])))
    ]
    assert.deepStrictEqual(statuses("authentication_error"), [401])
    assert.deepStrictEqual(statuses("conflict_error"), [409])
    assert.deepStrictEqual(statuses("validation_error"), [422])
    assert.deepStrictEqual(statuses("rate_limit_error"), [429])
  })

  it("marks only transient errors as retryable", () => {
    assert.deepStrictEqual(
      codes.filter((code) => catalog[code].retryable),
      [
        "upo_not_available",
        "rate_limit_exceeded",
        "api_disabled",
        "request_timeout",
        "wrong_cell",
        "internal_error",
        "service_unavailable"
      ]
    )
  })

  it.each(codes)("%s: the message is a sentence of 17 to 152 characters", (code) => {
    assert.match(catalog[code].message, /^\S.{15,150}\.$/)
  })

  it("does not compile with an unknown type, an unknown code or a missing member", () => {
    const { retryable: _, ...incomplete } = catalog.not_found
    // @ts-expect-error Property 'retryable' is missing
    const short: ErrorCatalog.CatalogEntry = incomplete
    // @ts-expect-error Type '"server_error"' is not assignable
    const stray: ErrorCatalog.CatalogEntry = { ...catalog.not_found, type: "server_error" }
    // @ts-expect-error Type '"teapot"' is not assignable
    const code: ErrorCatalog.ErrorCode = "teapot"
    assert.isFalse("retryable" in short)
    assert.notInclude(ErrorCatalog.ErrorType.literals, stray.type)
    assert.notInclude(codes, code)
  })
})
