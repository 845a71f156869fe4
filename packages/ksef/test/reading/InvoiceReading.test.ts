/**
 * What a person reads of an invoice document.
 */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import * as SchemaModel from "../../src/checks/SchemaModel.ts"
import * as InvoiceReading from "../../src/reading/InvoiceReading.ts"
import { formCodes } from "../../src/protocol/FormCode.ts"
import type { SchemaFile } from "../../src/schemas.ts"

const example = readFileSync(new URL("../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

const document = (content: string, form: keyof typeof formCodes = "FA (3)") =>
  `<Faktura xmlns="${formCodes[form].namespace}">${content}</Faktura>`

const read = (xml: string): InvoiceReading.Reading => {
  const reading = InvoiceReading.read(xml)
  assert.isDefined(reading)
  return reading!
}

const section = (reading: InvoiceReading.Reading, id: InvoiceReading.SectionId) =>
  reading.sections.find((section) => section.id === id)

/** A document with every element of a schema, each value another one: its number. */
const everything = (file: SchemaFile, form: keyof typeof formCodes) => {
  const values: Array<readonly [name: string, value: string]> = []
  const write = (declaration: SchemaModel.ElementDeclaration): string => {
    const { children, isRepeatable, name } = declaration
    const once = (): string => {
      const inner = children()
      if (inner.length > 0) return `<${name}>${inner.map(write).join("")}</${name}>`
      values.push([name, `v${values.length}v`])
      return `<${name}> v${values.length - 1}v\n</${name}>`
    }
    return isRepeatable ? `${once()}${once()}` : once()
  }
  const root = SchemaModel.read(file).find(["Faktura"])!
  return { xml: document(root.children().map(write).join(""), form), values }
}

describe("reading an invoice", () => {
  it("finds parties, dates, lines, taxes and the total", () => {
    const reading = read(example)
    assert.strictEqual(reading.form, "FA (3)")
    assert.strictEqual(reading.kind?.meaning?.pl, "Faktura")
    assert.deepStrictEqual([reading.number, reading.currency, reading.total], ["FV/2026/11/0001", "PLN", "123.00"])
    const [seller, buyer] = reading.parties
    assert.deepStrictEqual(seller, {
      label: { pl: "Sprzedawca", en: "Seller" },
      name: "Sprzedawca Testowy sp. z o.o.",
      address: ["ul. Testowa 1", "00-001 Warszawa", "PL"],
      facts: [
        {
          name: "NIP",
          label: { pl: "NIP", en: "Tax number (NIP)" },
          value: "5265877635",
          meaning: undefined,
          type: undefined
        }
      ]
    })
    // The marks of local government and VAT groups say no.
    assert.deepStrictEqual(
      buyer?.facts.map(({ name }) => name),
      ["NIP"]
    )
    assert.include(
      reading.details.map(({ label, value }) => `${label.pl}: ${value}`),
      "Data wystawienia: 2026-11-20"
    )
    assert.deepStrictEqual(
      reading.sections.map(({ id }) => id),
      ["lines", "taxes", "totals"]
    )
    const [lines] = section(reading, "lines")!.tables
    assert.deepStrictEqual(
      lines!.columns.map(({ label }) => label.en),
      ["No.", "Name of the goods or service", "Quantity", "Unit", "Net unit price", "VAT rate", "Net value"]
    )
    assert.deepStrictEqual(lines!.rows, [
      { cells: ["1", "Usługa testowa", "1", "szt.", "100.00", "23%", "100.00"], facts: [] }
    ])
    const [taxes] = section(reading, "taxes")!.tables
    assert.deepStrictEqual(taxes!.rows, [
      { cells: [{ pl: "23% lub 22%", en: "23% or 22%" }, "100.00", "23.00"], facts: [] }
    ])
    assert.strictEqual(reading.rowCount, 2)
  })

  it.each([
    ["schemat_FA(3)_v1-0E.xsd", "FA (3)"],
    ["schemat_FA_RR(1)_v1-1E.xsd", "FA_RR (1)"]
  ] as const)("leaves out no value of any element of %s", (file, form) => {
    const { values, xml } = everything(file, form)
    const reading = read(xml)
    const shown = JSON.stringify(reading)
    const unread = values.filter(
      ([name, value]) => !["KodFormularza", "WariantFormularza"].includes(name) && !shown.includes(value)
    )
    assert.isAbove(values.length, 150)
    assert.deepStrictEqual(unread, [])
    // What the schema has, has its place.
    assert.isUndefined(section(reading, "other"), JSON.stringify(section(reading, "other")))
  })

  it("puts what no schema has into a section of its own, and calls it by its name", () => {
    const reading = read(
      document("<Fa><P_2>1</P_2><P_2>2</P_2><Nowe><constructor>x</constructor></Nowe></Fa><Obce>y</Obce>")
    )
    const other = section(reading, "other")
    assert.deepStrictEqual(
      other?.facts.map(({ name, value }) => [name, value]),
      [
        ["P_2", "2"],
        ["Obce", "y"]
      ]
    )
    assert.strictEqual(other?.groups[0]?.label.en, "Nowe")
    assert.strictEqual(other?.groups[0]?.facts[0]?.value, "x")
  })

  it("says what the values of code lists mean, and leaves out the marks that say no", () => {
    const reading = read(
      document(
        `<Podmiot3><DaneIdentyfikacyjne><Nazwa>Faktoria</Nazwa></DaneIdentyfikacyjne><Rola>1</Rola></Podmiot3>
        <Fa><Adnotacje><P_16>2</P_16><P_17>1</P_17><P_18A>1</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie></Adnotacje>
        <Platnosc><FormaPlatnosci>6</FormaPlatnosci></Platnosc></Fa>`
      )
    )
    assert.deepStrictEqual(reading.parties[0]?.label, { pl: "Faktor", en: "Factor" })
    assert.deepStrictEqual(
      section(reading, "annotations")?.facts.map(({ label, meaning }) => [label.pl, meaning?.pl]),
      [
        ["Samofakturowanie", "Tak"],
        ["Mechanizm podzielonej płatności", "Tak"]
      ]
    )
    assert.deepStrictEqual(section(reading, "payment")?.facts[0]?.meaning, { pl: "Przelew", en: "Bank transfer" })
  })

  it("reads attachments with their tables", () => {
    const reading = read(
      document(
        `<Zalacznik><BlokDanych><ZNaglowek>Pomiary</ZNaglowek><MetaDane><ZKlucz>Licznik</ZKlucz><ZWartosc>7</ZWartosc></MetaDane>
        <Tekst><Akapit>Pierwszy</Akapit><Akapit>Drugi</Akapit></Tekst>
        <Tabela><Opis>Zużycie</Opis><TNaglowek><Kol Typ="txt"><NKom>Dzień</NKom></Kol><Kol Typ="int"><NKom>kWh</NKom></Kol></TNaglowek>
        <Wiersz><WKom>1</WKom><WKom>5</WKom></Wiersz><Wiersz><WKom>2</WKom><WKom/></Wiersz><Suma><SKom/><SKom>5</SKom></Suma></Tabela>
        </BlokDanych></Zalacznik>`
      )
    )
    const [block] = section(reading, "attachments")!.groups
    assert.strictEqual(block?.label.pl, "Pomiary")
    assert.deepStrictEqual(block?.paragraphs, ["Pierwszy", "Drugi"])
    assert.deepStrictEqual(block?.tables[0]?.rows[0]?.cells, ["Licznik", "7"])
    const [table] = block!.groups[0]!.tables
    assert.deepStrictEqual(
      table?.columns.map(({ label }) => label.pl),
      ["Dzień", "kWh"]
    )
    assert.deepStrictEqual(
      table?.rows.map(({ cells }) => cells),
      [
        ["1", "5"],
        ["2", undefined],
        [undefined, "5"]
      ]
    )
  })

  it("gives a table of the attachment the columns of the schema at most, and loses no value", () => {
    const values = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}v`)
    const [heads, cells] = [values(300, "h"), values(2000, "c")]
    const reading = read(
      document(`<Zalacznik><BlokDanych><Tabela>
        <TNaglowek>${heads.map((head) => `<Kol Typ="txt"><NKom>${head}</NKom></Kol>`).join("")}</TNaglowek>
        <Wiersz>${cells.map((cell) => `<WKom>${cell}</WKom>`).join("")}</Wiersz><Wiersz><WKom>1</WKom></Wiersz>
        </Tabela></BlokDanych></Zalacznik>`)
    )
    const table = section(reading, "attachments")?.groups[0]?.groups[0]?.tables[0]
    assert.strictEqual(table?.columns.length, 20)
    assert.isTrue(table?.rows.every((row) => row.cells.length <= 20))
    const text = JSON.stringify(reading)
    for (const value of [...heads, ...cells]) assert.include(text, `"${value}"`)
  })

  it("reads FA (2)", () => {
    const reading = read(
      document(
        "<Fa><P_2>FV 1</P_2><Platnosc><TerminPlatnosci><TerminOpis>14 dni</TerminOpis></TerminPlatnosci></Platnosc></Fa>",
        "FA (2)"
      )
    )
    assert.deepStrictEqual([reading.form, reading.number], ["FA (2)", "FV 1"])
    assert.include(JSON.stringify(section(reading, "payment")), "14 dni")
  })

  it("reads a term and an address as one fact each", () => {
    const reading = read(
      document(
        `<Fa><Platnosc><TerminPlatnosci><Termin>2026-12-04</Termin><TerminOpis><Ilosc>14</Ilosc><Jednostka>dni</Jednostka>
        <ZdarzeniePoczatkowe>od dostawy</ZdarzeniePoczatkowe></TerminOpis></TerminPlatnosci></Platnosc>
        <WarunkiTransakcji><Transport><WysylkaDo><KodKraju>PL</KodKraju><AdresL1>ul. Inna 2</AdresL1></WysylkaDo></Transport></WarunkiTransakcji></Fa>`
      )
    )
    assert.deepStrictEqual(
      section(reading, "payment")?.facts.map(({ value }) => value),
      ["2026-12-04", "14 dni od dostawy"]
    )
    assert.strictEqual(section(reading, "terms")?.groups[0]?.facts[0]?.value, "ul. Inna 2, PL")
  })

  it("reads nothing of another form, or of a document that is not well-formed", () => {
    assert.isUndefined(InvoiceReading.read("<Faktura xmlns='urn:other'><Fa/></Faktura>"))
    assert.isUndefined(InvoiceReading.read(example.slice(0, -3)))
    assert.isUndefined(InvoiceReading.read("no XML"))
  })

  it("cuts values after 4,000 characters", () => {
    const reading = read(document(`<Fa><P_2>${"x".repeat(900_000)}</P_2></Fa>`))
    assert.lengthOf(reading.number!, InvoiceReading.maxValueLength)
  })

  it("takes time in proportion to the document", () => {
    const line = "<FaWiersz><P_7>a</P_7><P_8B>1</P_8B><P_11>1</P_11></FaWiersz>"
    const shapes: ReadonlyArray<(size: number) => string> = [
      (size) => line.repeat(size),
      // Many elements with names of their own, each once in each line.
      (size) => Array.from({ length: size }, (_, index) => `<FaWiersz><E${index}>1</E${index}></FaWiersz>`).join(""),
      (size) => `<FaWiersz>${"<P_7>a</P_7>".repeat(3 * size)}</FaWiersz>`,
      (size) => "<P_2>1</P_2>".repeat(3 * size),
      (size) => "<Nowe><x/></Nowe>".repeat(size),
      (size) => `<P_2>${" x&amp;".repeat(size)}</P_2>`
    ]
    const msOf = (xml: string) => {
      const times = Array.from({ length: 5 }, () => {
        const start = process.cpuUsage()
        read(xml)
        const { system, user } = process.cpuUsage(start)
        return (user + system) / 1000
      })
      return Math.min(...times)
    }
    for (const [index, shape] of shapes.entries()) {
      const small = msOf(document(`<Fa>${shape(1000)}</Fa>`))
      const large = msOf(document(`<Fa>${shape(8000)}</Fa>`))
      // Eight times the size. Quadratic time would be 64 times as long.
      assert.isBelow(large, 30 * small + 50, `shape ${index}: ${small} ms, ${large} ms`)
    }
  })
})
