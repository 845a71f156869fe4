/** PDFs of invoices: what they say, how they break, and how long they take. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { drawInvoice, type Job } from "../../../src/invoices/pdf/drawInvoice.ts"
import { numberOf } from "../../../src/invoices/pdf/Layout.ts"
import { readPdf } from "./support/readPdf.ts"

const xml = readFileSync(new URL("../../../../../test/support/fullInvoice.xml", import.meta.url), "utf8")

const [line] = /<FaWiersz>\s*<NrWierszaFa>3[\s\S]*?<\/FaWiersz>/.exec(xml)!

/** The document with many lines, each with a text of its own. */
const withLines = (count: number): string =>
  xml.replace(line, () =>
    Array.from({ length: count }, (_, index) =>
      line.replace("<NrWierszaFa>3<", `<NrWierszaFa>${index + 3}<`).replace("przesyłki", `przesyłki nr ${index}`)
    ).join("\n")
  )

const url = "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"

const job: Job = {
  xml,
  officialNumber: "5265877635-20261120-0A1B2C3D4E5F-6A",
  codes: [
    { text: url, label: "5265877635-20261120-0A1B2C3D4E5F-6A" },
    { text: url.replace("invoice", "certificate"), label: "CERTYFIKAT" }
  ],
  createdAt: "2026-11-20T08:15:00.000Z"
}

const draw = async (changes: Partial<Job> = {}): Promise<Uint8Array> => {
  const drawn = await drawInvoice({ ...job, ...changes })
  if (!("pdf" in drawn)) throw new Error(drawn.refused)
  return drawn.pdf
}

const pagesOf = async (changes: Partial<Job> = {}) => readPdf(await draw(changes)).map(({ lines }) => lines)

describe("the PDF of an invoice", () => {
  it("keeps the order of what stands beside letters that the fonts lack", async () => {
    for (const letter of ["\u05D0", "\u0628", "\u07CA", "\u{10A00}"]) {
      const [page] = await pagesOf({ xml: xml.replace("KOR/2026/11/0007", `${letter}1250/2026`) })
      assert.match(page![1]!, /^.1250\/2026$/u)
    }
  })

  it("says what the document says, in Polish and English, with all Polish letters", async () => {
    const pages = await pagesOf()
    const lines = pages.flat()
    for (const expected of [
      "Faktura korygująca / Corrective invoice",
      "KOR/2026/11/0007",
      "685,09 PLN",
      "Numer KSeF / KSeF number: 5265877635-20261120-0A1B2C3D4E5F-6A",
      "Sprzedawca Testowy Żółć i Gęśla Jaźń sp. z o.o.",
      "ul. Świętokrzyska 12",
      "Przyczyna korekty / Reason for the correction",
      "Błędna cena jednostkowa",
      "Nazwa towaru lub usługi",
      "Podręcznik „Zażółć gęślą jaźń”",
      "Indeks: POD-17 · GTIN: 5901234123457 · PKWiU: 58.11.1",
      "12 345,60",
      "123,456",
      "zwolniona od podatku / exempt",
      "Przelew / Bank transfer",
      "61109010140000071219812874",
      "Godziny według osób",
      "CERTYFIKAT"
    ])
      assert.include(lines, expected)
    assert.include(lines.join(""), url)
    assert.notInclude(lines.join(""), "\uFFFD")
  })

  it("says on each page that it is a visualization, and which page it is", async () => {
    const pages = await pagesOf({ xml: withLines(300) })
    assert.isAbove(pages.length, 5)
    for (const [index, lines] of pages.entries()) {
      assert.deepStrictEqual(lines.slice(-2), [
        "Wizualizacja faktury. Fakturą jest dokument XML. / A visualization of the invoice. The invoice is the XML document.",
        `${index + 1} / ${pages.length}`
      ])
    }
  })

  it("repeats the head of a table on each page, and leaves out no row", async () => {
    const pages = await pagesOf({ xml: withLines(300) })
    const ofLines = pages.filter((lines) => lines.some((text) => text.startsWith("Ubezpieczenie przesyłki nr")))
    assert.isAbove(ofLines.length, 4)
    for (const lines of ofLines) assert.include(lines, "Nazwa towaru lub usługi")
    const rows = pages.flat().filter((text) => /^Ubezpieczenie przesyłki nr \d+$/.test(text))
    assert.deepStrictEqual(
      rows,
      Array.from({ length: 300 }, (_, index) => `Ubezpieczenie przesyłki nr ${index}`)
    )
  })

  it("continues a row that is higher than a page, and breaks words that are wider than their column", async () => {
    const words = Array.from({ length: 300 }, (_, index) => `słowo${index}`)
    const long = `${"W".repeat(900)} ${words.join(" ")}`
    const pages = await pagesOf({ xml: xml.replace("Ubezpieczenie przesyłki", long) })
    const text = pages.flat().join(" ")
    assert.isAtLeast(text.match(/W/g)!.length, 900)
    for (const word of words) assert.include(text, word)
  })

  it("draws a table with more columns than fit beside each other", async () => {
    const cells = (name: string) =>
      Array.from({ length: 20 }, (_, index) => `<${name}>komórka ${index}</${name}>`).join("")
    const heads = Array.from({ length: 20 }, (_, index) => `<Kol Typ="txt"><NKom>Kolumna${index}</NKom></Kol>`).join("")
    const wide = xml.replace(
      /<Tabela>[\s\S]*<\/Tabela>/,
      `<Tabela><TNaglowek>${heads}</TNaglowek><Wiersz>${cells("WKom")}</Wiersz></Tabela>`
    )
    assert.include((await pagesOf({ xml: wide })).flat().join(""), "19")
  })

  it("is the same file for the same invoice, and another one after the official number", async () => {
    const hash = async (changes?: Partial<Job>) =>
      createHash("sha256")
        .update(await draw(changes))
        .digest("hex")
    assert.strictEqual(await hash(), await hash())
    assert.notStrictEqual(await hash(), await hash({ officialNumber: null }))
  })

  it("has no codes where the invoice has none", async () => {
    assert.notInclude((await pagesOf({ codes: [] })).flat(), "Weryfikacja / Verification")
  })

  it("is refused for other forms and for more than 20,000 rows", async () => {
    assert.deepStrictEqual(await drawInvoice({ ...job, xml: "<a/>" }), { refused: "form" })
    const short = "<FaWiersz><P_7>a</P_7></FaWiersz>"
    const rows = (count: number) => xml.replace(line, short.repeat(count))
    // Beside the lines there are three lines, three rates, and seven rows of descriptions, registers and the attachment.
    assert.deepStrictEqual(await drawInvoice({ ...job, xml: rows(20_000) }), { refused: "length" })
    assert.property(await drawInvoice({ ...job, xml: rows(19_980) }), "pdf")
  })
})

describe("the length of a PDF", () => {
  const attachment = (table: string): string => xml.replace(/<Tabela>[\s\S]*<\/Tabela>/, `<Tabela>${table}</Tabela>`)

  it("is not multiplied by the head of a table that is nearly a page or higher", async () => {
    const rows = "<Wiersz><WKom>w</WKom></Wiersz>".repeat(200)
    for (const length of [130, 200, 4000]) {
      const column = `<Kol Typ="txt"><NKom>${"W".repeat(length)}</NKom></Kol>`
      const table = `<TNaglowek>${column.repeat(20)}</TNaglowek>${rows}`
      const text = (await pagesOf({ xml: attachment(table) })).flat()
      assert.lengthOf(
        text.filter((line) => line === "w"),
        200
      )
      assert.isBelow(text.join("").match(/W/g)!.length, 2 * 20 * length)
    }
  })

  it("is not multiplied by the head of a table whose letters have no width", async () => {
    const rows = "<Wiersz><WKom>w</WKom></Wiersz>".repeat(200)
    const column = `<Kol Typ="txt"><NKom>${"\u0301".repeat(3900)}${"W".repeat(6)}</NKom></Kol>`
    const text = (await pagesOf({ xml: attachment(`<TNaglowek>${column.repeat(20)}</TNaglowek>${rows}`) })).flat()
    assert.lengthOf(
      text.filter((line) => line === "w"),
      200
    )
    assert.isBelow(text.join("").match(/W/g)!.length, 2 * 20 * 6)
  })

  it("does not count words that repeat, however long they are", async () => {
    const head = '<Kol Typ="txt"><NKom>a</NKom></Kol>'.repeat(5)
    const cells = `<Wiersz>${`<WKom>${"i".repeat(41)}</WKom>`.repeat(5)}</Wiersz>`
    const text = (await pagesOf({ xml: attachment(`<TNaglowek>${head}</TNaglowek>${cells.repeat(3300)}`) })).flat()
    assert.lengthOf(
      text.filter((each) => each === "i".repeat(41)),
      5 * 3300
    )
  })

  it("is limited by the letters of different words, of which a document of 1 MB has more than can be drawn in time", async () => {
    const rows = (count: number) =>
      xml.replace(line, () =>
        Array.from(
          { length: count },
          (_, index) => `<FaWiersz><P_7>${String(index).padEnd(60, "a")}</P_7></FaWiersz>`
        ).join("")
      )
    assert.deepStrictEqual(await drawInvoice({ ...job, xml: rows(10_000) }), { refused: "length" })
    assert.property(await drawInvoice({ ...job, xml: rows(1000) }), "pdf")
  })

  it("is limited, in texts and in different words", async () => {
    const note = (text: string) => `<Informacje><StopkaFaktury>${text}</StopkaFaktury></Informacje>`
    // However short the words are.
    const word = (index: number) => String.fromCodePoint(0x100 + (index >> 8), 0x100 + (index & 0xff))
    const words = (from: number) => Array.from({ length: 1300 }, (_, index) => word(from + index)).join(" ")
    const notes = (count: number) =>
      xml.replace(
        "<Stopka>",
        `<Stopka>${Array.from({ length: count }, (_, index) => note(words(index * 1300))).join("")}`
      )
    assert.deepStrictEqual(await drawInvoice({ ...job, xml: notes(39) }), { refused: "length" })
    assert.property(await drawInvoice({ ...job, xml: notes(5) }), "pdf")
    const facts = (count: number) => xml.replace("</Fa>", `${"<P_1>a</P_1>".repeat(count)}</Fa>`)
    assert.deepStrictEqual(await drawInvoice({ ...job, xml: facts(61_000) }), { refused: "length" })
    assert.property(await drawInvoice({ ...job, xml: facts(1000) }), "pdf")
  })
})

describe("numbers", () => {
  it("are written as Polish writes them, with the digits of the document", () => {
    assert.deepStrictEqual(["0", "1234", "-1234567.50", "12.3456", "1e3", "23%"].map(numberOf), [
      "0",
      "1\u00A0234",
      "-1\u00A0234\u00A0567,50",
      "12,3456",
      "1e3",
      "23%"
    ])
  })
})
