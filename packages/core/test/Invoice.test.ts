import { deepStrictEqual } from "node:assert/strict"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Invoice, InvoiceState } from "../src/index.ts"
import { acceptedInvoice, invoices } from "./records.ts"
import { thorough, throughJson } from "./arbitraries.ts"

const decode = Schema.decodeUnknownSync(Invoice.Invoice)
const encode = Schema.encodeSync(Invoice.Invoice)
const decodeExactly = Schema.decodeUnknownSync(Invoice.Invoice, { onExcessProperty: "error" })

describe("Invoice", () => {
  it("has the members of the contract", () => {
    assert.deepStrictEqual(Object.keys(Invoice.Invoice.fields), [
      "id",
      "object",
      "mode",
      "status",
      "scenario",
      "metadata",
      "document",
      "verification",
      "invoicing_mode",
      "official_mode",
      "send_by",
      "corrects",
      "warnings",
      "official_number",
      "rejection",
      "failure",
      "upo_available",
      "attempt_count",
      "next_attempt_at",
      "created_at",
      "updated_at",
      "submitted_at",
      "completed_at"
    ])
  })

  it("has an example record in every status", () => {
    assert.deepStrictEqual(new Set(invoices.map(({ status }) => status)), new Set<string>(InvoiceState.Status.literals))
  })

  it.each(invoices)("decodes and encodes a realistic $status invoice without change", (invoice) => {
    assert.deepStrictEqual<object>(decodeExactly(invoice), invoice)
    assert.strictEqual(JSON.stringify(encode(decode(invoice))), JSON.stringify(invoice))
  })

  it.each(Object.keys(acceptedInvoice))("requires %s", (member) => {
    const { [member]: _, ...rest } = acceptedInvoice as Record<string, unknown>
    assert.throws(() => decode(rest), member)
  })

  it("rejects the document and any other additional member", () => {
    assert.throws(() => decodeExactly({ ...acceptedInvoice, invoice_xml: "<Faktura/>" }))
    assert.throws(() => decodeExactly({ ...acceptedInvoice, rejection: { code: "a", message: "b", detail: "c" } }))
    assert.notProperty(decode({ ...acceptedInvoice, invoice_xml: "<Faktura/>" }), "invoice_xml")
  })

  it.each<[member: keyof typeof acceptedInvoice, value: unknown]>([
    ["id", "evt_01m7q5cqg0e6786ptds43fm4k3"],
    ["id", "inv_01M7Q5CQG0E6786PTDS43FM4K3"],
    ["object", "Invoice"],
    ["mode", "demo"],
    ["mode", null],
    ["status", "done"],
    ["status", null],
    ["scenario", "none"],
    ["scenario", undefined],
    ["metadata", null],
    ["metadata", { order: 42 }],
    ["metadata", []],
    ["invoicing_mode", "emergency"],
    ["invoicing_mode", null],
    ["official_mode", "Online"],
    ["send_by", 20_261_123],
    ["corrects", "evt_01m7q5cqg0e6786ptds43fm4k3"],
    ["warnings", null],
    ["warnings", [{ code: "total_differs", message: "Look.", line: 1.5, column: 1 }]],
    ["warnings", [{ code: "total_differs", message: "Look." }]],
    ["official_number", 5265877635],
    ["rejection", "sandbox_rejected"],
    ["rejection", { code: "sandbox_rejected" }],
    ["failure", { message: "It failed." }],
    ["upo_available", "true"],
    ["upo_available", null],
    ["attempt_count", -1],
    ["attempt_count", 1.5],
    ["attempt_count", "1"],
    ["attempt_count", Number.NaN],
    ["next_attempt_at", ""],
    ["created_at", null],
    ["created_at", "2026-11-20T09:00:00Z"],
    ["updated_at", 1_795_000_000_000],
    ["submitted_at", "2026-02-30T09:00:00.000Z"],
    ["completed_at", false]
  ])("rejects %s = %j", (member, value) => {
    assert.throws(() => decode({ ...acceptedInvoice, [member]: value }))
  })

  it("keeps metadata named __proto__ when decoding and encoding", () => {
    const json = JSON.stringify(acceptedInvoice).replace('"order"', '"__proto__"')
    assert.strictEqual(JSON.stringify(encode(decode(JSON.parse(json)))), json)
  })

  it.prop(
    "survives a JSON round trip",
    [Invoice.Invoice],
    ([invoice]) => {
      const there: unknown = throughJson(encode(invoice))
      // Compared as JSON, because records may have different prototypes, and with Node's assert, which prints a diff.
      deepStrictEqual(throughJson(encode(decodeExactly(there))), there)
    },
    thorough
  )

  it("keeps required members, minima and patterns in its JSON Schema", () => {
    const { definitions } = Schema.toJsonSchemaDocument(Invoice.Invoice)
    const schema = definitions["Invoice"] as {
      readonly required: ReadonlyArray<string>
      readonly properties: Record<string, { readonly [key: string]: unknown }>
    }
    assert.deepStrictEqual(schema.required, Object.keys(acceptedInvoice))
    assert.strictEqual(schema.properties["attempt_count"]!["minimum"], 0)
    assert.property(schema.properties["id"], "pattern")
    assert.property(schema.properties["created_at"], "pattern")
  })
})
