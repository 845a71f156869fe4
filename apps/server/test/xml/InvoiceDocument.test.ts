import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as InvoiceDocument from "../../src/xml/InvoiceDocument.ts"
import { corpus } from "./corpus.ts"
import { hostile } from "./hostile.ts"

const { fault, fields } = InvoiceDocument

const sample = readFileSync(new URL("../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

const nothing: InvoiceDocument.Fields = {
  namespace: "",
  sellerNip: undefined,
  issueDate: undefined,
  invoiceNumber: undefined,
  formCode: undefined,
  schemaVersion: undefined
}

describe("InvoiceDocument", () => {
  describe("fault", () => {
    it("finds none in an invoice", () => {
      assert.isUndefined(fault(sample))
    })

    it.each<[what: string, value: unknown, sentence: string]>([
      ["nothing", undefined, "invoice_xml is missing."],
      ["a number", 1, "invoice_xml must be a string."],
      ["empty text", "", "invoice_xml is empty."],
      ["text that is too large", "x".repeat(1_000_001), "invoice_xml is larger than 1,000,000 bytes."],
      ["NUL", "<a>\u0000</a>", "invoice_xml contains a NUL or an unpaired surrogate."],
      [
        "text that is no XML",
        "invoice",
        "invoice_xml is not well-formed: text data outside of root node (line 1, column 7)."
      ],
      ["a wrong end tag", "<a>\n</b>", "invoice_xml is not well-formed: unexpected close tag (line 2, column 4)."],
      [
        "a document type",
        "<!DOCTYPE a><a/>",
        "invoice_xml must not have a document type declaration (DOCTYPE) (line 1, column 1)."
      ],
      [
        "another encoding",
        '<?xml version="1.0" encoding="UTF-16"?><a/>',
        "invoice_xml must be UTF-8, and its declaration says UTF-16 (line 1, column 38)."
      ]
    ])("says what is wrong with %s", (_, value, sentence) => {
      assert.strictEqual(fault(value), sentence)
    })

    it("says one sentence with a place about each bad document of the corpus that is text at all", () => {
      for (const { verdict, xml } of Object.values(corpus).flat()) {
        const sentence = fault(xml)
        if (verdict === "good") assert.isUndefined(sentence)
        else
          assert.match(
            sentence ?? "",
            /^invoice_xml (is empty\.|contains a NUL.*|[^\n]* \(line \d+, column [1-9]\d*\)\.)$/
          )
      }
    })
  })

  describe("fields", () => {
    it("reads an invoice", () => {
      assert.deepStrictEqual(fields(sample), {
        namespace: "http://crd.gov.pl/wzor/2025/06/25/13775/",
        sellerNip: "5265877635",
        issueDate: "2026-11-20",
        invoiceNumber: "FV/2026/11/0001",
        formCode: "FA (3)",
        schemaVersion: "1-0E"
      })
    })

    it.each<[what: string, xml: string, wanted: Partial<InvoiceDocument.Fields>]>([
      ["a document without any", "<a/>", {}],
      ["the namespace of the root only", '<a xmlns="urn:x"><b xmlns="urn:y"/></a>', { namespace: "urn:x" }],
      [
        "prefixed names",
        '<t:F xmlns:t="urn:x"><t:Fa><t:P_1>2026-01-02</t:P_1></t:Fa></t:F>',
        { namespace: "urn:x", issueDate: "2026-01-02" }
      ],
      [
        "text in pieces",
        "<F><Fa><P_2>A<!-- x -->&amp;<![CDATA[<B>]]><?p?>&#67;</P_2></Fa></F>",
        { invoiceNumber: "A&<B>C" }
      ],
      ["white space", "<F><Fa><P_2>\r\n  FV \t 1\n </P_2></Fa></F>", { invoiceNumber: "FV 1" }],
      ["a no-break space, which is none", "<F><Fa><P_2>\u00a0</P_2></Fa></F>", { invoiceNumber: "\u00a0" }],
      ["an element without text", "<F><Fa><P_2> </P_2></Fa></F>", {}],
      ["the first of several", "<F><Fa><P_2>1</P_2><P_2>2</P_2></Fa><Fa><P_2>3</P_2></Fa></F>", { invoiceNumber: "1" }],
      ["the first of several, though it is empty", "<F><Fa><P_2/><P_2>2</P_2></Fa></F>", {}],
      [
        "the seller's number and not the buyer's",
        "<F><Podmiot2><DaneIdentyfikacyjne><NIP>1</NIP></DaneIdentyfikacyjne></Podmiot2><Podmiot1><DaneIdentyfikacyjne><NIP>2</NIP></DaneIdentyfikacyjne></Podmiot1></F>",
        { sellerNip: "2" }
      ],
      [
        "the same names elsewhere",
        "<F><P_2>1</P_2><x><Fa><P_2>2</P_2></Fa></x><Fa><x><P_2>3</P_2></x></Fa><NIP>4</NIP></F>",
        {}
      ],
      ["names below the place", "<F><Fa><P_2><x>1</x></P_2></Fa></F>", { invoiceNumber: "1" }],
      [
        "names like properties of objects",
        "<F><__proto__><P_2>1</P_2></__proto__><Fa><constructor>2</constructor></Fa></F>",
        {}
      ],
      ["a form without its attributes", "<F><Naglowek><KodFormularza>FA</KodFormularza></Naglowek></F>", {}],
      [
        "a form with attributes that have a prefix",
        '<F xmlns:p="urn:x"><Naglowek><KodFormularza p:kodSystemowy="A" wersjaSchemy=" 1 "/></Naglowek></F>',
        { schemaVersion: "1" }
      ],
      ["a document up to its fault", "<F><Fa><P_2>1</P_2></F>", { invoiceNumber: "1" }],
      ["a document type", "<!DOCTYPE F [<!ENTITY x 'y'>]><F><Fa><P_2>&x;</P_2></Fa></F>", {}]
    ])("reads %s", (_, xml, wanted) => {
      assert.deepStrictEqual(fields(xml), { ...nothing, ...wanted })
    })

    it.each(hostile)("reads a megabyte of %s in time", (_, xml) => {
      const start = performance.now()
      fields(xml)
      assert.isBelow(performance.now() - start, 5000)
    })
  })
})
