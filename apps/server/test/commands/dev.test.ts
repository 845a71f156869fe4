/** The document that `govoice dev` writes for the first submission. */
import { DocumentChecker } from "@govoice/ksef/checks"
import { assert, describe, it } from "vitest"
import { invoice } from "../../src/commands/dev.ts"

describe("The document of `govoice dev`", () => {
  it("is an invoice of today in Poland that KSeF would take, without a warning", async () => {
    const xml = invoice(new Date("2026-11-20T23:30:00Z")).invoice_xml
    assert.include(xml, "<P_1>2026-11-21</P_1>")
    const checker = await DocumentChecker.load()
    const { violations, warnings } = checker.check(xml, { today: "2026-11-21", environment: "prod" })
    assert.deepStrictEqual([violations, warnings], [[], []])
  })
})
