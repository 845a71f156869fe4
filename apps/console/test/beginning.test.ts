/** The beginning of a document is bounded, whatever the document has. */
import { InvoiceReading } from "@govoice/ksef/reading"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { beginningOf, partsAtFirst, rowsAtFirst } from "../src/screens/invoices/document/beginning.ts"

const example = readFileSync(new URL("../../../test/support/fullInvoice.xml", import.meta.url), "utf8")

const read = (xml: string) => InvoiceReading.read(xml)!

const document = (content: string) =>
  read(`<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/">${content}</Faktura>`)

/** How much a page shows of a document. */
const sizeOf = (reading: InvoiceReading.Reading): number => {
  const group = ({ facts, groups, paragraphs, tables }: InvoiceReading.Group): number => {
    const ofTables = tables.map(({ columns, rows }) => {
      const shown = rows.slice(0, rowsAtFirst)
      return columns.length + shown.reduce((sum, row) => sum + 1 + row.cells.length + row.facts.length, 0)
    })
    const below = [...groups.map(group), ...ofTables].reduce((sum, size) => sum + size, 0)
    return facts.length + paragraphs.length + groups.length + tables.length + below
  }
  const parties = reading.parties.map(({ address, facts }) => 1 + address.length + facts.length)
  return [...parties, ...reading.sections.map(group)].reduce((sum, size) => sum + size, reading.details.length)
}

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join("")

describe("the beginning of a document", () => {
  it("is the whole of an invoice", () => {
    const reading = read(example)
    assert.deepStrictEqual(beginningOf(reading), { reading, isWhole: true })
  })

  it("is the whole of an invoice with many lines, whose table shows them on request", () => {
    const [line] = /<FaWiersz>\s*<NrWierszaFa>3[\s\S]*?<\/FaWiersz>/.exec(example)!
    const reading = read(example.replace(line, () => line.repeat(2000)))
    assert.deepStrictEqual(beginningOf(reading), { reading, isWhole: true })
  })

  it.each([
    ["facts", many(20_000, (n) => `<X${n}>${n}</X${n}>`)],
    ["groups of groups", many(150, (n) => `<G${n}>${many(150, (m) => `<H${m}><a>1</a><b>2</b></H${m}>`)}</G${n}>`)],
    [
      "rows with many facts",
      `<Fa>${many(300, (n) => `<FaWiersz>${many(300, (m) => `<X${m}>${n}</X${m}>`)}</FaWiersz>`)}</Fa>`
    ],
    ["parties", many(5000, (n) => `<Podmiot3><Rola>${n}</Rola><a>1</a><b>2</b><c>3</c></Podmiot3>`)]
  ])("is bounded for many %s", (_, content) => {
    const reading = document(content)
    assert.isAbove(sizeOf(reading), 1.5 * partsAtFirst)
    const beginning = beginningOf(reading)
    assert.isFalse(beginning.isWhole)
    // The last row that begins is whole.
    assert.isAtMost(sizeOf(beginning.reading), partsAtFirst + 30)
  })
})
