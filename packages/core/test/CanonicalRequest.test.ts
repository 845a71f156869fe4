import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { CanonicalRequest, Invoice, type Mode, type SandboxScenario } from "../src/index.ts"
import { hostileText, record, thorough } from "./arbitraries.ts"

const { canonicalForm, hash } = CanonicalRequest

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text, "utf8").digest()

const hex = (request: CanonicalRequest.CanonicalRequest): string => Buffer.from(hash(request, sha256)).toString("hex")

const request: CanonicalRequest.CanonicalRequest = {
  mode: "test",
  scenario: "accepted",
  invoicingMode: "online",
  metadata: { order: "2026/11/0042", buyer: "Zażółć" },
  invoiceXml: "<Faktura/>"
}

// A request body, serialized by a client and parsed by a server.
const submitted = (json: string): CanonicalRequest.CanonicalRequest => {
  const body = JSON.parse(json) as { invoice_xml: string; metadata?: Record<string, string> }
  return {
    mode: "test",
    scenario: "accepted",
    invoicingMode: "online",
    metadata: body.metadata ?? {},
    invoiceXml: body.invoice_xml
  }
}

type Raw = readonly [
  Mode.Mode,
  SandboxScenario.Scenario | null,
  Invoice.InvoicingMode,
  ReadonlyArray<readonly [string, string]>,
  string
]

const raw: Arbitrary.Arbitrary<Raw> = Arbitrary.all([
  Arbitrary.schema(Schema.Literals(["test", "live"])),
  Arbitrary.schema(Schema.NullOr(Schema.Literals(["accepted", "rejected"]))),
  Arbitrary.schema(Invoice.InvoicingMode),
  Arbitrary.array(Arbitrary.all([hostileText, hostileText]), { maxLength: 3 }),
  hostileText
])

const build = ([mode, scenario, invoicingMode, entries, invoiceXml]: Raw): CanonicalRequest.CanonicalRequest => ({
  mode,
  scenario,
  invoicingMode,
  metadata: record(entries),
  invoiceXml
})

// An independent definition of equal requests.
const same = (a: CanonicalRequest.CanonicalRequest, b: CanonicalRequest.CanonicalRequest): boolean => {
  const keys = Object.getOwnPropertyNames(a.metadata)
  return (
    a.mode === b.mode &&
    a.scenario === b.scenario &&
    a.invoicingMode === b.invoicingMode &&
    a.invoiceXml === b.invoiceXml &&
    keys.length === Object.getOwnPropertyNames(b.metadata).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b.metadata, key) &&
        Object.getOwnPropertyDescriptor(a.metadata, key)?.value ===
          Object.getOwnPropertyDescriptor(b.metadata, key)?.value
    )
  )
}

describe("CanonicalRequest", () => {
  // Hashes are stored for a month and longer. A changed form would turn replays into conflicts.
  it("keeps the form and the hash of a known request", () => {
    assert.strictEqual(
      canonicalForm(request),
      '["test","accepted","online",[["buyer","Zażółć"],["order","2026/11/0042"]],"<Faktura/>"]'
    )
    assert.strictEqual(hex(request), "387159a16686c28d0707d9c6ef9f83ba7723592e23cf9465a09031dd465cbb97")
  })

  it("has a null scenario in live mode", () => {
    assert.strictEqual(
      canonicalForm({ ...request, mode: "live", scenario: null, metadata: {} }),
      '["live",null,"online",[],"<Faktura/>"]'
    )
  })

  it.effect("hashes the form in UTF-8 with SHA-256", () =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(canonicalForm(request))
      const digest = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", bytes))
      assert.deepStrictEqual([...hash(request, sha256)], [...new Uint8Array(digest)])
      assert.lengthOf(hash(request, sha256), 32)
    })
  )

  it("ignores whitespace, escapes and member order of the JSON", () => {
    const one = submitted('{"invoice_xml":"<a>é</a>","metadata":{"a":"1","b":"2"}}')
    const other = submitted('{ "metadata" : {\n  "b":"2", "\\u0061":"1" },\t"invoice_xml":"<a>\\u00e9</a>" }')
    assert.strictEqual(hex(one), hex(other))
  })

  it("treats absent metadata as empty", () => {
    assert.strictEqual(hex(submitted('{"invoice_xml":"<a/>"}')), hex(submitted('{"invoice_xml":"<a/>","metadata":{}}')))
  })

  it("sorts numeric keys like other keys", () => {
    const one = submitted('{"invoice_xml":"<a/>","metadata":{"10":"a","9":"b","x":"c"}}')
    const other = submitted('{"invoice_xml":"<a/>","metadata":{"x":"c","9":"b","10":"a"}}')
    assert.strictEqual(hex(one), hex(other))
  })

  it.each<[what: string, changed: Partial<CanonicalRequest.CanonicalRequest>]>([
    ["the mode", { mode: "live" }],
    ["the scenario", { scenario: "delayed" }],
    ["having a scenario", { scenario: null }],
    ["the invoicing mode", { invoicingMode: "offline" }],
    ["the invoice that it corrects", { correctsInvoiceId: "inv_1" }],
    ["a space in the document", { invoiceXml: "<Faktura />" }],
    ["a line feed after the document", { invoiceXml: "<Faktura/>\n" }],
    ["a byte order mark", { invoiceXml: "\ufeff<Faktura/>" }],
    ["the Unicode normal form of a value", { metadata: { ...request.metadata, buyer: "Zażółć".normalize("NFD") } }],
    ["a value", { metadata: { ...request.metadata, order: "2026/11/0043" } }],
    ["the case of a key", { metadata: { Order: "2026/11/0042", buyer: "Zażółć" } }],
    ["one key more", { metadata: { ...request.metadata, note: "" } }],
    ["one key less", { metadata: { order: "2026/11/0042" } }],
    ["values that changed places", { metadata: { order: "Zażółć", buyer: "2026/11/0042" } }]
  ])("has another hash for a difference in %s", (_, changed) => {
    assert.notStrictEqual(hex({ ...request, ...changed }), hex(request))
  })

  it("treats __proto__ as an ordinary key", () => {
    const plain = submitted('{"invoice_xml":"<a/>"}')
    const one = submitted('{"invoice_xml":"<a/>","metadata":{"__proto__":"1"}}')
    const other = submitted('{"invoice_xml":"<a/>","metadata":{"__proto__":"2"}}')
    assert.strictEqual(canonicalForm(one), '["test","accepted","online",[["__proto__","1"]],"<a/>"]')
    assert.strictEqual(new Set([plain, one, other].map(hex)).size, 3)
  })

  it.prop(
    "gives equal hashes exactly to equal requests",
    [raw, raw],
    ([a, b]) => {
      const one = build(a)
      const other = build(b)
      assert.strictEqual(hex(one) === hex(other), same(one, other))
    },
    { arbitrary: { runs: 5000 } }
  )

  // Two random requests rarely differ in one place only; these do.
  it.prop(
    "changes the hash when any single part changes",
    [raw, hostileText, Schema.Literals([0, 1, 2, 3, 4, 5])],
    ([draw, text, part]) => {
      const one = build(draw)
      const [mode, scenario, invoicing, entries, invoiceXml] = draw
      const other = build(
        part === 0
          ? [mode === "test" ? "live" : "test", scenario, invoicing, entries, invoiceXml]
          : part === 1
            ? [mode, scenario === null ? "accepted" : null, invoicing, entries, invoiceXml]
            : part === 2
              ? [mode, scenario, invoicing, entries, text]
              : part === 3
                ? [mode, scenario, invoicing, [...entries, [text, invoiceXml]], invoiceXml]
                : part === 4
                  ? [mode, scenario, invoicing, entries.map(([key]) => [key, text] as const), invoiceXml]
                  : [mode, scenario, invoicing === "online" ? "offline" : "online", entries, invoiceXml]
      )
      assert.strictEqual(hex(one) === hex(other), same(one, other))
    },
    { arbitrary: { runs: 5000 } }
  )

  it.prop(
    "ignores the order of metadata keys",
    [raw],
    ([[mode, scenario, invoicing, entries, invoiceXml]]) => {
      // JSON.parse keeps the last value of a repeated key, so each key is used once.
      const unique = [...new Map(entries)]
      assert.strictEqual(
        hex(build([mode, scenario, invoicing, unique, invoiceXml])),
        hex(build([mode, scenario, invoicing, unique.toReversed(), invoiceXml]))
      )
    },
    thorough
  )
})
