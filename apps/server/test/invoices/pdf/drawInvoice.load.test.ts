/** How long PDFs take. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { drawInvoice } from "../../../src/invoices/pdf/drawInvoice.ts"

const xml = readFileSync(new URL("../../../../../test/support/fullInvoice.xml", import.meta.url), "utf8")

const [line] = /<FaWiersz>\s*<NrWierszaFa>3[\s\S]*?<\/FaWiersz>/.exec(xml)!

const msOf = async (lines: number): Promise<number> => {
  const job = { officialNumber: null, codes: [], createdAt: "2026-11-20T08:15:00.000Z" }
  const start = performance.now()
  const drawn = await drawInvoice({ ...job, xml: xml.replace(line, () => line.repeat(lines)) })
  assert.property(drawn, "pdf")
  return performance.now() - start
}

describe("the PDF of an invoice", () => {
  it("takes less than a second for 200 lines, and less than ten for 5,000", async () => {
    await msOf(1)
    assert.isBelow(await msOf(200), 1000)
    assert.isBelow(await msOf(5000), 10_000)
  })
})
