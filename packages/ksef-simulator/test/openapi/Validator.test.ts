import { assert, describe, it } from "vitest"
import { readDocument } from "../../src/openapi/document.ts"
import { operations, type OperationName } from "../../src/openapi/operations.ts"
import { Router } from "../../src/openapi/Router.ts"
import { Validator } from "../../src/openapi/Validator.ts"

const document = readDocument()
const validator = new Validator(document)
const router = new Router(document)
const operation = (name: OperationName) => router.operations.find(({ key }) => key === operations[name])!

const encryption = { encryptedSymmetricKey: "AAAA", initializationVector: "AAAA" }
const formCode = { systemCode: "FA (3)", schemaVersion: "1-0E", value: "FA" }

describe("Validator", () => {
  it("body: takes what the schema allows, unknown members and null among it", () => {
    const body = { formCode, encryption: { ...encryption, publicKeyId: null }, more: 1 }
    assert.deepStrictEqual(validator.body(operation("openOnlineSession"), body), { ok: true, value: body })
  })

  it.each([
    ["a missing member", { formCode }, "body must have required property 'encryption'"],
    ["another type", { formCode, encryption: 1 }, "body.encryption must be object"],
    [
      "text that is no Base64",
      { formCode, encryption: { ...encryption, encryptedSymmetricKey: "A" } },
      'body.encryption.encryptedSymmetricKey must match format "byte"'
    ],
    ["no object", [], "body must be object"]
  ])("body: refuses %s, and names it", (_, body, fault) => {
    assert.deepStrictEqual(validator.body(operation("openOnlineSession"), body), { ok: false, fault })
  })

  it("body: refuses more addresses than the document allows", () => {
    const allowedIps = { ip4Addresses: Array.from({ length: 11 }, () => "10.0.0.1") }
    const checked = validator.body(operation("loginWithToken"), {
      challenge: "x".repeat(36),
      contextIdentifier: { type: "Nip", value: "5265877635" },
      encryptedToken: "AAAA",
      authorizationPolicy: { allowedIps }
    })
    assert.deepStrictEqual(checked, {
      ok: false,
      fault: "body.authorizationPolicy.allowedIps.ip4Addresses must NOT have more than 10 items"
    })
  })

  it("body: takes megabytes of Base64", () => {
    const content = Buffer.alloc(8_000_000, 7).toString("base64")
    const hash = Buffer.alloc(32).toString("base64")
    const checked = validator.body(operation("sendInvoice"), {
      invoiceHash: hash,
      invoiceSize: 1,
      encryptedInvoiceHash: hash,
      encryptedInvoiceSize: 1,
      encryptedInvoiceContent: content
    })
    assert.isTrue(checked.ok)
  })

  it("parameters: turns texts of a query into numbers and lists, and fills in defaults", () => {
    assert.deepStrictEqual(
      validator.parameters(operation("listSessions"), "query", { sessionType: "Online", statuses: "Failed", x: "1" }),
      { ok: true, value: { sessionType: "Online", statuses: ["Failed"], pageSize: 10 } }
    )
    assert.deepStrictEqual(validator.parameters(operation("listInvoices"), "query", { pageSize: "1000" }), {
      ok: true,
      value: { pageSize: 1000 }
    })
  })

  it.each([
    ["pageSize", { sessionType: "Online", pageSize: "9" }],
    ["pageSize", { sessionType: "Online", pageSize: "1001" }],
    ["sessionType", {}],
    ["sessionType", { sessionType: "Other" }],
    ["dateCreatedFrom", { sessionType: "Online", dateCreatedFrom: "yesterday" }]
  ])("parameters: refuses a query with a wrong %s", (name, query) => {
    const checked = validator.parameters(operation("listSessions"), "query", query)
    assert.isFalse(checked.ok)
    assert.include(checked.ok ? "" : checked.fault, name)
  })
})
