import { assert, describe, it } from "@effect/vitest"
import type { Violation } from "@govoice/ksef/checks"
import { SystemWarning } from "@govoice/ksef/protocol"
import * as InvoiceWarnings from "../../src/invoices/InvoiceWarnings.ts"

const found = (code: Violation.WarningCode, message = "look at it"): Violation.Warning => ({
  code,
  message,
  path: "Faktura/Fa/P_1",
  source: "ustawa o VAT",
  line: 2,
  column: 7
})

describe("InvoiceWarnings", () => {
  it("names the element and the source, and is at most 500 characters long", () => {
    assert.deepStrictEqual(InvoiceWarnings.ofDocument([found("lines_differ")], "online"), [
      { code: "lines_differ", message: "Faktura/Fa/P_1: look at it (ustawa o VAT).", line: 2, column: 7 }
    ])
    const [long] = InvoiceWarnings.ofDocument([found("lines_differ", "😀".repeat(400))], "online")
    assert.isAtMost(long!.message.length, 500)
    assert.isTrue(long!.message.isWellFormed())
    assert.isTrue(long!.message.endsWith("…"))
  })

  it("says of an invoice that was issued online alone that its date has passed", () => {
    const late = [found("issue_date_past")]
    assert.lengthOf(InvoiceWarnings.ofDocument(late, "online"), 1)
    assert.lengthOf(InvoiceWarnings.ofDocument(late, "offline"), 0)
  })

  it("has the first five that came with an answer, with their codes, and no character that a log would interpret", () => {
    const header = `[W1]: FA (3) ends\u0000 soon. | Without a code. | ${"x | ".repeat(10)}`
    const warnings = InvoiceWarnings.ofSystem(SystemWarning.read(header))
    assert.lengthOf(warnings, 5)
    assert.deepStrictEqual(warnings.slice(0, 2), [
      { code: "system_warning", message: String.raw`[W1] FA (3) ends\u{0} soon.`, line: null, column: null },
      { code: "system_warning", message: "Without a code.", line: null, column: null }
    ])
  })
})
