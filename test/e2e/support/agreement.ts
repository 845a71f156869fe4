/**
 * Checks each response against the rules for all responses and against the OpenAPI document of its server, and records the
 * responses, so that a suite can find those that never occurred.
 */
import { assert } from "vitest"
import { compile } from "../../../apps/server/test/support/JsonSchema.ts"

interface AnyOf {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<{ readonly $ref?: string }>
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<
      string,
      { readonly headers?: object; readonly content?: Readonly<Record<string, { readonly schema: AnyOf }>> }
    >
  >
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: object }
}

/** An answer, read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: unknown
}

export interface Problem {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly request_id: string
  readonly retryable: boolean
}

/** The catalog of the contract, written down a second time: type, status, param, retryable. `*` is the one at fault. */
export const catalog: Readonly<Record<string, readonly [string, number, string | null, boolean]>> = {
  missing_api_key: ["authentication_error", 401, null, false],
  missing_idempotency_key: ["invalid_request_error", 400, "Idempotency-Key", false],
  idempotency_conflict: ["conflict_error", 409, "Idempotency-Key", false],
  invalid_invoice_xml: ["validation_error", 422, "invoice_xml", false],
  invalid_sandbox_scenario: ["invalid_request_error", 400, "Gov-Sandbox-Scenario", false],
  upo_not_available: ["invalid_request_error", 404, null, true],
  verification_not_available: ["invalid_request_error", 404, null, false],
  pdf_not_available: ["invalid_request_error", 404, null, false],
  rate_limit_exceeded: ["rate_limit_error", 429, null, true],
  api_disabled: ["api_error", 503, null, true],
  invalid_metadata: ["validation_error", 422, "metadata", false],
  invalid_idempotency_key: ["invalid_request_error", 400, "Idempotency-Key", false],
  invalid_request_body: ["invalid_request_error", 400, null, false],
  unknown_parameter: ["invalid_request_error", 400, "*", false],
  invalid_parameter: ["validation_error", 422, "*", false],
  unsupported_media_type: ["invalid_request_error", 415, "Content-Type", false],
  request_too_large: ["invalid_request_error", 413, null, false],
  request_timeout: ["invalid_request_error", 408, null, true],
  not_found: ["invalid_request_error", 404, null, false],
  method_not_allowed: ["invalid_request_error", 405, null, false],
  invoice_not_found: ["invalid_request_error", 404, null, false],
  live_mode_unavailable: ["invalid_request_error", 403, null, false],
  offline_not_available: ["invalid_request_error", 403, null, false],
  missing_access_token: ["authentication_error", 401, null, false],
  invalid_credentials: ["authentication_error", 401, null, false],
  invalid_refresh_token: ["authentication_error", 401, null, false],
  email_taken: ["conflict_error", 409, "email", false],
  signup_disabled: ["invalid_request_error", 403, null, false],
  organization_not_found: ["invalid_request_error", 404, null, false],
  api_key_not_found: ["invalid_request_error", 404, null, false],
  webhook_endpoint_not_found: ["invalid_request_error", 404, null, false],
  webhook_delivery_not_found: ["invalid_request_error", 404, null, false],
  unsafe_webhook_url: ["validation_error", 422, "url", false],
  malformed_request: ["invalid_request_error", 400, null, false],
  headers_too_large: ["invalid_request_error", 431, null, false],
  cross_site_request: ["invalid_request_error", 403, null, false],
  limit_reached: ["conflict_error", 409, null, false],
  wrong_cell: ["invalid_request_error", 421, null, true],
  internal_error: ["api_error", 500, null, true],
  service_unavailable: ["api_error", 503, null, true]
}

const anywhere = ["not_found", "method_not_allowed", "malformed_request", "headers_too_large"]

const identifier = (prefix: string): RegExp => new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)

/** The error of an answer, which has to have one. */
export const problemOf = ({ json }: Answer): Problem => {
  const { error } = json as { readonly error: Problem }
  return error
}

// Only the reference has another policy, which its own tests check.
const contentSecurityPolicy = /^default-src 'none'; (?:frame-ancestors 'none'$|(?:script|style)-src 'sha256-)/

/** Checks the rules for all responses. */
export const checkAnswer = (answer: Answer, method: string): void => {
  const requestId = answer.headers.get("request-id") ?? ""
  assert.match(requestId, identifier("req"), "every response has a Request-Id")
  assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
  assert.match(answer.headers.get("content-security-policy") ?? "", contentSecurityPolicy)
  if (method === "HEAD") {
    assert.strictEqual(answer.text, "")
    return
  }
  if (answer.status < 400) return

  assert.strictEqual(answer.headers.get("content-type"), "application/json", answer.text)
  assert.deepStrictEqual(Object.keys(answer.json as object), ["error"])
  const problem = problemOf(answer)
  assert.sameMembers(Object.keys(problem), ["type", "code", "message", "param", "request_id", "retryable"])
  const row = catalog[problem.code]
  assert.isDefined(row, problem.code)
  const [type, status, param, retryable] = row
  assert.deepStrictEqual(
    { type: problem.type, status: answer.status, retryable: problem.retryable, request_id: problem.request_id },
    { type, status, retryable, request_id: requestId }
  )
  if (param === "*") assert.isTrue(problem.param === null || typeof problem.param === "string")
  else assert.strictEqual(problem.param, param)
  assert.isString(problem.message)
  assert.isNotEmpty(problem.message)
  if (status === 429 || status === 503) assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/)
  if (status === 405) assert.isNotEmpty(answer.headers.get("allow"))
  if (status === 401) assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
}

const pattern = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`)

/** Closes what may grow: this version has the members and values of its document, and no others. */
const closed = (document: Document): Document =>
  JSON.parse(
    JSON.stringify(document, (_, value: unknown) => {
      if (typeof value !== "object" || value === null) return value
      const { "x-extensible-enum": values, ...rest } = value as Readonly<Record<string, unknown>>
      if (values !== undefined) return { ...rest, enum: values }
      const isObject = "properties" in value && rest["type"] === "object" && !("additionalProperties" in value)
      return isObject ? { ...value, additionalProperties: false } : value
    })
  ) as Document

/** Makes the judge of one document. */
export const makeAgreement = (document: Document) => {
  const validate = compile(closed(document))
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
  )
  const seen = new Set<string>()

  const codesOf = (operation: Operation, status: string): ReadonlyArray<string> => {
    const schema: AnyOf | undefined = operation.responses[status]?.content?.["application/json"]?.schema
    return (schema?.anyOf ?? [schema]).flatMap((member) => {
      const name = /(?<name>\w+)$/.exec(member?.$ref ?? "")?.groups?.["name"]
      const error = (document.components.schemas as Record<string, Named>)[name ?? ""]?.properties?.["error"]
      const code = error?.properties?.["code"]
      return code?.enum ?? (code?.const === undefined ? [] : [code.const])
    })
  }

  return {
    /** Judges an answer. Paths that are not in the document have nothing to agree with. */
    check: (method: string, url: string, answer: Answer): void => {
      checkAnswer(answer, method)
      const path = url.replace(/[?#].*$/, "")
      const found = operations.find((entry) => entry.method === method && pattern(entry.path).test(path))
      if (found === undefined || method === "HEAD") return
      const code = answer.status < 400 ? "" : problemOf(answer).code
      if (anywhere.includes(code)) return
      const { operation } = found
      const response = operation.responses[String(answer.status)]
      assert.isDefined(response, `${operation.operationId} answers ${answer.status} ${code}, which is not documented`)
      const contentType = answer.headers.get("content-type")
      const documented = Object.keys(response.content ?? {})
      // An image has several.
      if (contentType === null) assert.deepStrictEqual(documented, [], operation.operationId)
      else assert.include(documented, contentType, operation.operationId)
      if (contentType === "application/json") {
        const pointer = [found.path, method.toLowerCase(), "responses", String(answer.status), "content", contentType]
        assert.deepStrictEqual(validate(["paths", ...pointer, "schema"], answer.json), [], answer.text)
      }
      for (const [name, header] of Object.entries(response.headers ?? {})) {
        if ((header as { readonly required?: boolean }).required) assert.isNotNull(answer.headers.get(name), name)
      }
      seen.add(`${operation.operationId} ${answer.status} ${code}`.trim())
    },

    /** The promise of the document. */
    documented: (): ReadonlyArray<string> =>
      operations.flatMap(({ operation }) =>
        Object.keys(operation.responses).flatMap((status) => {
          const codes = codesOf(operation, status)
          return codes.length === 0
            ? [`${operation.operationId} ${status}`]
            : codes.map((code) => `${operation.operationId} ${status} ${code}`)
        })
      ),

    seen: seen as ReadonlySet<string>
  }
}

interface Named {
  readonly properties?: Readonly<Record<string, Named>>
  readonly enum?: ReadonlyArray<string>
  readonly const?: string
}

export type Agreement = ReturnType<typeof makeAgreement>
