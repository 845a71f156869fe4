import { assert, describe, it } from "@effect/vitest"
import { CanonicalRequest, Metadata } from "@govoice/core"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { maxDocumentBodyBytes } from "../../src/http/middleware/BodyReading.ts"
import { hasMoreValues, readSubmission, type SubmissionFault } from "../../src/invoices/readSubmission.ts"

const sample = readFileSync(new URL("../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

const context = { mode: "test", scenario: "accepted" } as const

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest()

const readBytes = (body: Uint8Array) => readSubmission(body, context)
const read = (json: string) => readBytes(Buffer.from(json))

const valid = (json: string) => {
  const result = read(json)
  if (result._tag === "Invalid") throw new Error(JSON.stringify(result.fault))
  return result.submission
}

const fails = (json: string, fault: SubmissionFault) =>
  assert.deepStrictEqual(read(json), { _tag: "Invalid", fault } as const)

const faultOf = (json: string): SubmissionFault | undefined => {
  const result = read(json)
  return result._tag === "Invalid" ? result.fault : undefined
}

describe("readSubmission", () => {
  it("returns the document, its summary, the metadata and the hash of the canonical request", () => {
    const submission = valid(JSON.stringify({ metadata: { order: "4711" }, invoice_xml: sample }))
    assert.deepStrictEqual(submission, {
      invoiceXml: sample,
      metadata: { order: "4711" },
      invoicingMode: "online",
      summary: {
        sha256: sha256(sample),
        sellerNip: "5265877635",
        issueDate: "2026-11-20",
        invoiceNumber: "FV/2026/11/0001",
        formCode: "FA (3)",
        schemaVersion: "1-0E",
        hasAttachment: false,
        document: {
          form: "FA (3)",
          kind: "VAT",
          number: "FV/2026/11/0001",
          issue_date: "2026-11-20",
          currency: "PLN",
          total: "123.00",
          seller: { tax_id: "5265877635", name: "Sprzedawca Testowy sp. z o.o." },
          buyer: { tax_id: "5260250274", name: "Nabywca Testowy" }
        }
      },
      requestHash: CanonicalRequest.hash(
        { ...context, invoiceXml: sample, invoicingMode: "online", metadata: { order: "4711" } },
        sha256
      )
    })
  })

  describe("the body", () => {
    it.each(["", "{", "[]", "null", "5", '"text"', '{"invoice_xml":"<a/>"', '{"invoice_xml":"<a/>",}'])(
      "must be a JSON object: %j",
      (json) => fails(json, { code: "invalid_request_body" })
    )

    it("must be UTF-8", () => {
      const body = Buffer.concat([Buffer.from('{"invoice_xml":"<a>'), Buffer.of(0xff), Buffer.from('</a>"}')])
      assert.deepStrictEqual(readBytes(body), { _tag: "Invalid", fault: { code: "invalid_request_body" } } as const)
    })

    it("has an invoicing mode, of which null is the same as online, and which another request has", () => {
      const modes = [undefined, null, "online", "offline"].map((invoicing_mode) =>
        valid(JSON.stringify({ invoice_xml: sample, invoicing_mode }))
      )
      assert.deepStrictEqual(
        modes.map(({ invoicingMode }) => invoicingMode),
        ["online", "online", "online", "offline"]
      )
      assert.strictEqual(new Set(modes.map(({ requestHash }) => Buffer.from(requestHash).toString("hex"))).size, 2)
    })

    it("can correct an invoice technically, which another request does not", () => {
      const offline = { invoice_xml: sample, invoicing_mode: "offline" }
      const [plain, one, other] = [undefined, "inv_1", "inv_2"].map((corrects_invoice_id) =>
        valid(JSON.stringify({ ...offline, corrects_invoice_id }))
      )
      assert.isUndefined(plain?.correctsInvoiceId)
      assert.strictEqual(one?.correctsInvoiceId, "inv_1")
      const hashes = [plain, one, other].map((each) => Buffer.from(each!.requestHash).toString("hex"))
      assert.strictEqual(new Set(hashes).size, 3)
    })

    it.each<[body: Readonly<Record<string, unknown>>, message: RegExp]>([
      [{ invoice_xml: sample, corrects_invoice_id: "inv_1" }, /requires invoicing_mode "offline"/],
      [{ invoice_xml: sample, corrects_invoice_id: 1, invoicing_mode: "offline" }, /identifier of an invoice/],
      [
        {
          invoice_xml: sample.replace("</Faktura>", "<Zalacznik/></Faktura>"),
          corrects_invoice_id: "inv_1",
          invoicing_mode: "offline"
        },
        /no attachment/
      ]
    ])("corrects no invoice technically where KSeF would not take it", (body, message) => {
      const fault = faultOf(JSON.stringify(body))
      assert.deepInclude(fault, { code: "invalid_parameter", param: "corrects_invoice_id" })
      assert.match(fault?.message ?? "", message)
    })

    it.each([["Online"], [""], [true], [{}]])("has no invoicing mode %j", (invoicing_mode) => {
      assert.deepInclude(faultOf(JSON.stringify({ invoice_xml: sample, invoicing_mode })), {
        code: "invalid_parameter",
        param: "invoicing_mode"
      })
    })

    it.each([["<a/>"], [sample.replace("5265877635", "x")], [sample.replace("2026-11-20</P_1>", "x</P_1>")]])(
      "is not issued offline without the parts of its QR codes",
      (invoice_xml) => {
        const fault = faultOf(JSON.stringify({ invoice_xml, invoicing_mode: "offline" }))
        assert.deepInclude(fault, { code: "invalid_parameter", param: "invoicing_mode" })
        assert.match(fault?.message ?? "", /NIP of the seller and the date of issue/)
      }
    )

    it("has no other members than the document and the metadata", () => {
      for (const name of ["colour", "toString", "__proto__", "constructor", ""]) {
        fails(`{"invoice_xml":"<a/>",${JSON.stringify(name)}:{}}`, {
          code: "unknown_parameter",
          param: name,
          message: `Unknown parameter ${JSON.stringify(name)}. Correct its name or remove it.`
        })
      }
    })

    it("has an unknown member whose name is shortened by characters", () => {
      const param = `${"🔑".repeat(64)}…`
      fails(JSON.stringify({ ["🔑".repeat(100_000)]: 1 }), {
        code: "unknown_parameter",
        param,
        message: `Unknown parameter "${param}". Correct its name or remove it.`
      })
    })

    it("reads no member from a prototype", () => {
      assert.strictEqual(faultOf('{"__proto__":{"invoice_xml":"<a/>"}}')?.code, "unknown_parameter")
    })
  })

  describe("the document", () => {
    it.each<[json: string, message: string]>([
      ["{}", "invoice_xml is missing."],
      ['{"invoice_xml":null}', "invoice_xml must be a string."],
      ['{"invoice_xml":5}', "invoice_xml must be a string."],
      ['{"invoice_xml":true}', "invoice_xml must be a string."],
      ['{"invoice_xml":["<a/>"]}', "invoice_xml must be a string."],
      ['{"invoice_xml":{"a":1}}', "invoice_xml must be a string."],
      ['{"invoice_xml":""}', "invoice_xml is empty."],
      ['{"invoice_xml":" \\n"}', "invoice_xml is empty."],
      ['{"invoice_xml":"<a>\\u0000</a>"}', "invoice_xml contains a NUL or an unpaired surrogate."],
      ['{"invoice_xml":"<a>\\ud800</a>"}', "invoice_xml contains a NUL or an unpaired surrogate."],
      [
        '{"invoice_xml":"<a>\\n</b>"}',
        "invoice_xml is not well-formed: close tag </b> found, </a> expected; <a> begins at line 1, column 1 (line 2, column 4)."
      ]
    ])("%s: %s", (json, message) => fails(json, { code: "invalid_invoice_xml", message }))

    it("is limited in bytes, not in characters", () => {
      const of = (bytes: number) => JSON.stringify({ invoice_xml: `<a>${"ż".repeat((bytes - 8) / 2)} </a>` })
      assert.strictEqual(Buffer.byteLength(valid(of(1_000_000)).invoiceXml), 1_000_000)
      fails(of(1_000_002), { code: "invalid_invoice_xml", message: "invoice_xml is larger than 1,000,000 bytes." })
    })

    it("may have up to 3,000,000 bytes with an attachment, also where the JSON escapes its letters", () => {
      const of = (bytes: number, name: string) => {
        const [start, end] = [`<Faktura><${name}>`, `</${name}></Faktura>`]
        return start + "Zużycie energii w listopadzie, taryfa nocna, ".repeat(bytes).slice(0, bytes) + end
      }
      const large = of(2_900_000, "Zalacznik")
      assert.isAbove(Buffer.byteLength(large), 2_950_000)
      const json = JSON.stringify({ invoice_xml: large }).replaceAll("ż", String.raw`\u017c`)
      assert.isBelow(json.length, maxDocumentBodyBytes)
      assert.strictEqual(valid(json).invoiceXml, large)
      assert.isTrue(valid(json).summary.hasAttachment)
      const tooLarge = { code: "invalid_invoice_xml", message: "invoice_xml is larger than 3,000,000 bytes." } as const
      fails(JSON.stringify({ invoice_xml: of(3_000_001, "Zalacznik") }), tooLarge)
      // What only looks like one does not count.
      fails(JSON.stringify({ invoice_xml: `<Faktura><!-- <Zalacznik> --><a>${"x".repeat(1_000_000)}</a></Faktura>` }), {
        code: "invalid_invoice_xml",
        message: "invoice_xml is larger than 1,000,000 bytes."
      })
    })

    it("has at most 100,000 elements", () => {
      const of = (elements: number) => JSON.stringify({ invoice_xml: `<a>${"<b/>".repeat(elements - 1)}</a>` })
      assert.isUndefined(faultOf(of(100_000)))
      fails(of(100_001), {
        code: "invalid_invoice_xml",
        message: "invoice_xml must have no more than 100,000 elements (line 1, column 400003)."
      })
    })

    it("has at most 64 attributes on one element", () => {
      const of = (attributes: number) =>
        JSON.stringify({
          invoice_xml: `<a\n${Array.from({ length: attributes }, (_, index) => ` a${index}=""`).join("")}/>`
        })
      assert.isUndefined(faultOf(of(64)))
      assert.match(
        faultOf(of(65))?.message ?? "",
        /^invoice_xml must have no more than 64 attributes on one element \(line 2, column \d+\)\.$/
      )
    })
  })

  describe("the metadata", () => {
    it.each<[metadata: string, message: string]>([
      ["5", "metadata must be an object whose values are strings."],
      ['"text"', "metadata must be an object whose values are strings."],
      ["[]", "metadata must be an object whose values are strings."],
      ["true", "metadata must be an object whose values are strings."],
      ['{"order":42}', 'The metadata value of "order" must be a string.'],
      ['{"order":null}', 'The metadata value of "order" must be a string.'],
      ['{"an order":{"a":"b"}}', 'The metadata value of "an order" must be a string.'],
      ['{"order":"\\u0000"}', 'The metadata value of "order" contains a NUL or an unpaired surrogate.'],
      ['{"\\ud800":"x"}', "A metadata key contains a NUL or an unpaired surrogate."],
      [`{"${"k".repeat(41)}":"x"}`, "A metadata key may have at most 40 characters."],
      [`{"order":"${"v".repeat(501)}"}`, 'The metadata value of "order" may have at most 500 characters.'],
      [
        JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, "v"]))),
        "metadata may have at most 50 keys."
      ]
    ])("%s: %s", (metadata, message) =>
      fails(`{"invoice_xml":"<a/>","metadata":${metadata}}`, { code: "invalid_metadata", message })
    )

    it.each<[metadata: string, expected: unknown]>([
      ["null", {}],
      ["{}", {}],
      ['{"":""}', { "": "" }],
      ['{"__proto__":"x","constructor":"y"}', JSON.parse('{"__proto__":"x","constructor":"y"}')],
      [`{"${"🔑".repeat(40)}":"${"🔑".repeat(500)}"}`, { ["🔑".repeat(40)]: "🔑".repeat(500) }]
    ])("%s is accepted", (metadata, expected) => {
      const submission = valid(`{"invoice_xml":"<a/>","metadata":${metadata}}`)
      assert.deepStrictEqual(submission.metadata, expected)
      assert.deepStrictEqual(Object.keys(submission.metadata), Object.keys(expected as object))
    })

    it("is absent like an empty object", () => {
      assert.deepStrictEqual(valid('{"invoice_xml":"<a/>"}'), valid('{"invoice_xml":"<a/>","metadata":{}}'))
    })

    it("is valid if and only if the domain accepts it", () => {
      const value = fc.oneof(fc.string({ unit: "binary", maxLength: 4 }), fc.constant("v".repeat(501)), fc.integer())
      const key = fc.oneof(
        fc.string({ unit: "binary", maxLength: 4 }),
        fc.constant("__proto__"),
        fc.constant("k".repeat(41))
      )
      fc.assert(
        fc.property(fc.array(fc.tuple(key, value), { maxLength: 4 }), (entries) => {
          const metadata = `{${entries.map((entry) => entry.map((part) => JSON.stringify(part)).join(":")).join(",")}}`
          const message = Metadata.fault(JSON.parse(metadata))
          assert.deepStrictEqual(
            faultOf(`{"invoice_xml":"<a/>","metadata":${metadata}}`),
            message === undefined ? undefined : { code: "invalid_metadata", message }
          )
        }),
        { numRuns: 2000 }
      )
    })
  })

  describe("a large body", () => {
    const size = 4 * 1024 * 1024
    const filled = (begin: string, part: string, end: string) =>
      begin + part.repeat(Math.floor((size - begin.length - end.length) / part.length)) + end

    it.each([
      ["arrays", filled('{"metadata":[', "[],", "1]}")],
      ["objects", filled('{"metadata":[', "{},", "1]}")],
      ["members", `{"metadata":{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join(",")}}}`],
      ["nested arrays", filled('{"metadata":', "[", "")]
    ])("of %s is rejected before it is parsed", (_, json) => {
      // The least of several measurements, because a garbage collection in one of them counts.
      let least = Infinity
      for (let time = 0; time < 20 && least >= 100; time++) {
        const before = process.cpuUsage()
        fails(json, { code: "invalid_request_body", message: "The request body has more than 250,000 values." })
        const { system, user } = process.cpuUsage(before)
        least = Math.min(least, (system + user) / 1000)
      }
      assert.isBelow(least, 100)
    })

    it("counts members, elements, objects and arrays outside of strings", () => {
      const count = (json: string): number => {
        for (let max = 0; ; max++) if (!hasMoreValues(Buffer.from(json), max)) return max
      }
      assert.strictEqual(count('{"a":1,"b":[1,2],"c":{}}'), 6)
      assert.strictEqual(count('{"a":"[,{\\",[\\\\",",":1}'), 2)
      assert.strictEqual(count('"[[['), 0)
      assert.strictEqual(count('"\\'), 0)
    })

    it("property: counts at least the values of any JSON", () => {
      const values = (value: unknown): number =>
        typeof value === "object" && value !== null
          ? Object.values(value).reduce((sum: number, member) => sum + values(member), 1)
          : 1
      fc.assert(
        fc.property(fc.json({ stringUnit: "binary" }), (json) => {
          const total = values(JSON.parse(json))
          // Each separator precedes a value; an empty object or array counts as one.
          assert.isFalse(hasMoreValues(Buffer.from(json), 2 * total))
          if (total > 1) assert.isTrue(hasMoreValues(Buffer.from(json), Math.floor((total - 1) / 2) - 1))
        })
      )
    })
  })
})
