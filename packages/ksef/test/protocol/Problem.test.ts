import { assert, describe, it } from "@effect/vitest"
import { Problem, SystemWarning } from "@govoice/ksef/protocol"
import * as fc from "fast-check"
import * as OpenApi from "./openApi.ts"

const read = (value: unknown) => Problem.read(JSON.stringify(value))

describe("Problem", () => {
  it("reads every example of the OpenAPI document", () => {
    const formats = (status: string) => [...new Set(OpenApi.examples(status).map((example) => read(example).format))]
    assert.sameMembers(formats("400"), ["problem-details", "exception"])
    assert.sameMembers(formats("403"), ["problem-details"])
    assert.sameMembers(formats("401"), ["problem-details"])
    assert.sameMembers(formats("429"), ["problem-details", "too-many-requests"])
    for (const example of OpenApi.examples("400")) assert.isNotEmpty(read(example).errors)
  })

  it("reads problem details", () => {
    const problem = read({
      title: "Bad Request",
      status: 400,
      instance: "/v2/sessions/online",
      detail: "Żądanie jest nieprawidłowe.",
      errors: [{ code: 21405, description: "Błąd walidacji danych wejściowych.", details: ["x"] }, { code: 21470 }],
      timestamp: "2025-07-11T12:23:56.0154302+00:00",
      traceId: "673843e023c432286660bc0501a3af44",
      more: {}
    })
    assert.deepStrictEqual(problem, {
      format: "problem-details",
      title: "Bad Request",
      detail: "Żądanie jest nieprawidłowe.",
      errors: [
        { code: 21405, description: "Błąd walidacji danych wejściowych.", details: ["x"] },
        { code: 21470, description: undefined, details: [] }
      ],
      reasonCode: undefined,
      missingPermissions: [],
      traceId: "673843e023c432286660bc0501a3af44"
    })
  })

  it("reads the reason of a 403 and the missing permissions", () => {
    const problem = read({
      title: "Forbidden",
      status: 403,
      detail: "Brak wymaganych uprawnień.",
      reasonCode: "missing-permissions",
      security: { requiredAnyOfPermissions: ["InvoiceWrite", 1], presentPermissions: ["InvoiceRead"] }
    })
    assert.strictEqual(problem.reasonCode, "missing-permissions")
    assert.deepStrictEqual(problem.missingPermissions, ["InvoiceWrite"])
  })

  it("reads the body of a firewall, which has no reason", () => {
    const problem = read({ title: "Request blocked", status: 403, detail: "x", security: { incidentId: "1" } })
    assert.strictEqual(problem.format, "problem-details")
    assert.strictEqual(problem.title, "Request blocked")
    assert.isUndefined(problem.reasonCode)
    assert.isUndefined(read({ title: "Forbidden", reasonCode: null }).reasonCode)
  })

  it("reads a legacy exception", () => {
    const problem = read({
      exception: {
        exceptionDetailList: [{ exceptionCode: 21180, exceptionDescription: "Status sesji", details: ["415"] }],
        serviceCode: "00-c02c",
        serviceCtx: "srv",
        serviceName: "x",
        timestamp: "2025-07-11T12:23:56Z"
      }
    })
    assert.strictEqual(problem.format, "exception")
    assert.deepStrictEqual(problem.errors, [{ code: 21180, description: "Status sesji", details: ["415"] }])
    assert.strictEqual(problem.detail, "Status sesji")
    assert.strictEqual(problem.traceId, "00-c02c")
    assert.strictEqual(read({ exception: {} }).format, "exception")
  })

  it("reads the legacy body of 429", () => {
    const problem = read({ status: { code: 429, description: "Too Many Requests", details: ["Przekroczono limit"] } })
    assert.strictEqual(problem.format, "too-many-requests")
    assert.strictEqual(problem.detail, "Przekroczono limit")
  })

  it.each<[what: string, body: string, format: Problem.Problem["format"]]>([
    ["nothing", "", "empty"],
    ["white space", " \r\n", "empty"],
    ["HTML", "<!DOCTYPE html><html><body>502</body></html>", "html"],
    ["HTML in capitals after white space", "\n <HTML>", "html"],
    ["a script", "<script src=x></script>", "html"],
    ["XML", "<?xml version='1.0'?><a/>", "unreadable"],
    ["text", "upstream connect error", "unreadable"],
    ["broken JSON", '{"title":', "unreadable"],
    ["JSON of another form", '{"error":"x"}', "unreadable"],
    ["a number", "1", "unreadable"],
    ["null", "null", "unreadable"],
    ["an array", "[]", "unreadable"],
    ["a title that is no text", '{"title":1}', "unreadable"]
  ])("recognizes the format of a body that is %s", (_, body, format) => {
    assert.strictEqual(Problem.read(body).format, format)
  })

  it("reads any text and any JSON without failing", () => {
    fc.assert(fc.property(fc.string(), (body) => Problem.read(body).errors.length >= 0))
    fc.assert(
      fc.property(fc.json(), (body) => {
        assert.isString(Problem.read(body).format)
      })
    )
  })
})

describe("SystemWarning", () => {
  it.each<[header: string | undefined, warnings: ReadonlyArray<SystemWarning.SystemWarning>]>([
    [undefined, []],
    ["", []],
    ["[sig-001]: Podpis", [{ code: "sig-001", message: "Podpis" }]],
    [
      "[a]: x y | [b]: z",
      [
        { code: "a", message: "x y" },
        { code: "b", message: "z" }
      ]
    ],
    ["no form", [{ code: "", message: "no form" }]],
    ["[a]: x: [y]", [{ code: "a", message: "x: [y]" }]]
  ])("reads %j", (header, warnings) => {
    assert.deepStrictEqual(SystemWarning.read(header), warnings)
  })
})
