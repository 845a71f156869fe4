import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { InvoiceXml } from "@govoice/core"
import { InvoiceHeader } from "@govoice/ksef/format"
import * as InvoiceDocument from "../../../src/invoices/xml/InvoiceDocument.ts"
import { corpus } from "../../../../../packages/ksef/test/xml/corpus.ts"

const fault = (value: unknown): string | undefined =>
  InvoiceXml.fault(value) ?? InvoiceDocument.read(value as string).fault

const sample = readFileSync(new URL("../../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

describe("InvoiceDocument", () => {
  describe("fault", () => {
    it("is undefined for an invoice", () => {
      assert.isUndefined(fault(sample))
    })

    it.each<[what: string, value: unknown, sentence: string]>([
      ["nothing", undefined, "invoice_xml is missing."],
      ["a number", 1, "invoice_xml must be a string."],
      ["empty text", "", "invoice_xml is empty."],
      ["text that is too large", "x".repeat(1_000_001), "invoice_xml is larger than 1,000,000 bytes."],
      ["NUL", "<a>\u0000</a>", "invoice_xml contains a NUL or an unpaired surrogate."],
      [
        "a path",
        "out/invoice.xml",
        "invoice_xml is not well-formed: it begins with text; send the document itself, not its path or an encoding of it (line 1, column 15)."
      ],
      [
        "text after the document",
        "<a/>b",
        "invoice_xml is not well-formed: text data outside of root node (line 1, column 5)."
      ],
      [
        "a wrong end tag",
        "<a>\n</b>",
        "invoice_xml is not well-formed: close tag </b> found, </a> expected; <a> begins at line 1, column 1 (line 2, column 4)."
      ],
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
    ])("describes %s", (_, value, sentence) => {
      assert.strictEqual(fault(value), sentence)
    })

    it("is one sentence with a position for each malformed text of the corpus", () => {
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

  it("reads the header in the same pass", () => {
    assert.deepStrictEqual(InvoiceDocument.read(sample).header, InvoiceHeader.read(sample))
  })

  describe("summarize", () => {
    const sha256 = new Uint8Array(32)
    const summaryOf = (changes: Partial<InvoiceHeader.InvoiceHeader>) =>
      InvoiceDocument.summarize(sha256, { ...InvoiceHeader.read("<a/>"), ...changes })

    it("has null for every field that is absent", () => {
      assert.deepStrictEqual(summaryOf({}), {
        sha256,
        sellerNip: null,
        issueDate: null,
        invoiceNumber: null,
        formCode: null,
        schemaVersion: null,
        hasAttachment: false,
        document: null
      })
    })

    it.each(["526587763", "52658776350", "526-58-77-635", "PL5265877635", "٥٢٦٥٨٧٧٦٣٥"])(
      "has no tax number for %s",
      (sellerNip) => assert.isNull(summaryOf({ sellerNip }).sellerNip)
    )

    it.each([
      "2026-02-30",
      "2026-13-01",
      "2026-1-1",
      "20260101",
      "2026-01-01T00:00:00Z",
      "0000-00-00",
      "9999-12-31",
      "yesterday"
    ])("has no date for %s", (issueDate) => assert.isNull(summaryOf({ issueDate }).issueDate))

    it("truncates texts by characters, without a space at the end", () => {
      const { formCode, invoiceNumber, schemaVersion } = summaryOf({
        invoiceNumber: "🧾".repeat(300),
        formCode: `${"x".repeat(49)} y`,
        schemaVersion: "1-0E"
      })
      assert.deepStrictEqual([invoiceNumber, formCode, schemaVersion], ["🧾".repeat(256), "x".repeat(49), "1-0E"])
    })

    it("bounds what the record says of the document: truncates texts, and has null for a longer amount or identifier", () => {
      const long = "x".repeat(1000)
      const { document } = summaryOf({
        formCode: "FA (3)",
        kind: long,
        invoiceNumber: long,
        currency: long,
        total: long,
        sellerNip: long,
        buyerName: long
      })
      assert.deepStrictEqual(document, {
        form: "FA (3)",
        kind: null,
        number: "x".repeat(256),
        issue_date: null,
        currency: null,
        total: null,
        seller: { tax_id: null, name: null },
        buyer: { tax_id: null, name: "x".repeat(512) }
      })
      assert.deepInclude(summaryOf({ formCode: "FA (3)" }).document, { seller: null, buyer: null })
    })
  })
})
