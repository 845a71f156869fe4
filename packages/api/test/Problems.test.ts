import { assert, describe, it } from "@effect/vitest"
import { CurrentRequestId, Problems } from "@govoice/api"
import { ErrorCatalog } from "@govoice/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Contract from "./support/contract.ts"

const requestId = "req_01m7q5cqg0e6786ptds43fm4k3"

const params: Readonly<Record<string, string>> = {
  missing_idempotency_key: "Idempotency-Key",
  idempotency_conflict: "Idempotency-Key",
  invalid_idempotency_key: "Idempotency-Key",
  invalid_sandbox_scenario: "Gov-Sandbox-Scenario",
  invalid_invoice_xml: "invoice_xml",
  invalid_metadata: "metadata",
  unsupported_media_type: "Content-Type",
  email_taken: "email",
  unsafe_webhook_url: "url"
}

describe("Problems", () => {
  it.each(ErrorCatalog.codes)("makes the error %s from the row of the catalog", (code) => {
    const problem = Problems.make(code, requestId)
    const [type, status, retryable] = Contract.catalog[code]!
    assert.deepStrictEqual<unknown>(problem, {
      error: {
        type,
        code,
        message: problem.error.message,
        param: params[code] ?? null,
        request_id: requestId,
        retryable
      }
    })
    assert.match(problem.error.message, /^[^]+[.…]$/)
    assert.strictEqual(Problems.status(problem), status)
    assert.deepStrictEqual<unknown>(Schema.encodeUnknownSync(Problems.schema(code))(problem), problem)
    assert.deepStrictEqual<unknown>(Schema.encodeUnknownSync(Problems.AnyProblem)(problem), problem)
  })

  it("has a unique name for every error", () => {
    const names = ErrorCatalog.codes.map(Problems.identifier)
    assert.strictEqual(new Set(names).size, names.length)
    assert.strictEqual(Problems.identifier("invoice_not_found"), "InvoiceNotFoundError")
    assert.strictEqual(Problems.identifier("internal_error"), "InternalError")
    assert.notInclude(names, "Error")
  })

  it("takes a given param only for an error whose param the catalog leaves open", () => {
    const details = { param: "color", message: "A better sentence." }
    assert.deepInclude(Problems.make("unknown_parameter", requestId, details).error, details)
    assert.deepInclude(Problems.make("email_taken", requestId, details).error, { ...details, param: "email" })
    assert.isNull(Problems.make("not_found", requestId, details).error.param)
    assert.isNull(Problems.make("invalid_parameter", requestId).error.param)
  })

  it.effect("fails with an error that has the id of the current request", () =>
    Effect.gen(function* () {
      const fail = Problems.fail("not_found")
      const problem = yield* Effect.flip(Effect.provideService(fail, CurrentRequestId, requestId))
      assert.deepStrictEqual(problem, Problems.make("not_found", requestId))
    })
  )

  it("has a schema for each error that rejects other errors and malformed envelopes", () => {
    const is = Schema.is(Problems.schema("not_found"))
    const problem = Problems.make("not_found", requestId)
    assert.isTrue(is(problem))
    assert.isFalse(is(Problems.make("invoice_not_found", requestId)))
    assert.isFalse(is({ error: { ...problem.error, retryable: true } }))
    assert.isFalse(is({ error: { ...problem.error, request_id: "1" } }))
  })
})
