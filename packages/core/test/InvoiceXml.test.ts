import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvoiceXml } from "../src/index.ts"
import { codeUnits, thorough } from "./arbitraries.ts"

const { fault } = InvoiceXml

const tooLarge = "invoice_xml is larger than 1,000,000 bytes."

const attached = (bytes: number, prefix = "") => {
  const start = `<${prefix}Faktura><${prefix}Zalacznik>`
  return start + "x".repeat(bytes - start.length)
}

describe("InvoiceXml", () => {
  it("has the size limits of the contract", () => {
    assert.strictEqual(InvoiceXml.maxBytes, 1_000_000)
    assert.strictEqual(InvoiceXml.maxBytesWithAttachment, 3_000_000)
  })

  describe("fault", () => {
    it.each<[what: string, value: unknown, sentence: string | undefined]>([
      ["a document", "<Faktura/>", undefined],
      ["a document after a byte order mark", "\ufeff<Faktura/>", undefined],
      ["a document among white space", "\n <Faktura/>\n", undefined],
      ["text that is no XML, which is for the parser to say", "Faktura", undefined],
      ["a JSON object", ' {"number":1}', "invoice_xml is not XML. Send the document itself, not JSON."],
      ["a document in quotes", '"<Faktura/>"', "invoice_xml is not XML. Send the document itself, not JSON."],
      ["nothing", undefined, "invoice_xml is missing."],
      ["null", null, "invoice_xml must be a string."],
      ["a number", 7, "invoice_xml must be a string."],
      ["an object", { xml: "<a/>" }, "invoice_xml must be a string."],
      ["a list", ["<a/>"], "invoice_xml must be a string."],
      ["empty text", "", "invoice_xml is empty."],
      ["white space", " \t\r\n ", "invoice_xml is empty."],
      ["a byte order mark alone", "\ufeff", "invoice_xml is empty."],
      ["a byte order mark and white space", "\ufeff \n", "invoice_xml is empty."],
      ["NUL", "<a>\0</a>", "invoice_xml contains a NUL or an unpaired surrogate."],
      ["NUL alone", "\0", "invoice_xml contains a NUL or an unpaired surrogate."],
      ["the first half of a pair", "<a>\ud83d</a>", "invoice_xml contains a NUL or an unpaired surrogate."],
      ["the second half of a pair", "<a>\ude00</a>", "invoice_xml contains a NUL or an unpaired surrogate."],
      ["a whole pair", "<a>\ud83d\ude00</a>", undefined],
      ["1,000,000 bytes of one each", "x".repeat(1_000_000), undefined],
      ["1,000,001 bytes of one each", "x".repeat(1_000_001), tooLarge],
      ["1,000,000 bytes of two each", "é".repeat(500_000), undefined],
      ["1,000,002 bytes of two each", "é".repeat(500_001), tooLarge],
      ["999,999 bytes of three each", "€".repeat(333_333), undefined],
      ["1,000,002 bytes of three each", "€".repeat(333_334), tooLarge],
      ["1,000,000 bytes of four each", "😀".repeat(250_000), undefined],
      ["1,000,004 bytes of four each", "😀".repeat(250_001), tooLarge],
      ["a byte order mark that makes it too large", `\ufeff${"x".repeat(999_998)}`, tooLarge],
      ["a byte order mark that just fits", `\ufeff${"x".repeat(999_997)}`, undefined],
      ["3,000,000 bytes with an attachment", attached(3_000_000), undefined],
      ["3,000,000 bytes with an attachment under a prefix", attached(3_000_000, "fa:"), undefined],
      ["3,000,001 bytes with an attachment", attached(3_000_001), "invoice_xml is larger than 3,000,000 bytes."],
      ["1,000,001 bytes that only mention an attachment", `Zalacznik${"x".repeat(999_992)}`, tooLarge],
      ["too much white space", " ".repeat(1_000_001), tooLarge]
    ])("returns the documented sentence, or undefined for a valid document, for %s", (_, value, sentence) => {
      assert.strictEqual(fault(value), sentence)
    })

    it.prop(
      "agrees with Node's byte count at the size limit",
      [codeUnits, Schema.Int.check(Schema.isBetween({ minimum: -4, maximum: 4 }))],
      ([text, off]) => {
        const document = text + "x".repeat(1_000_000 + off - Buffer.byteLength(text, "utf8"))
        assert.strictEqual(fault(document) === tooLarge, off > 0)
      },
      { arbitrary: { runs: 200 } }
    )

    it.prop(
      "rejects text that cannot be stored or is blank",
      [codeUnits],
      ([text]) => {
        const good = !text.includes("\0") && Buffer.from(text, "utf8").toString("utf8") === text && text.trim() !== ""
        assert.strictEqual(fault(text) === undefined, good)
      },
      thorough
    )

    it("checks a million blanks before a letter without backtracking", () => {
      const document = `${" ".repeat(999_999)}x`
      const start = performance.now()
      assert.isUndefined(fault(document))
      assert.isBelow(performance.now() - start, 10_000)
    })
  })
})
