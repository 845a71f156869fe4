import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { InvoiceHeader } from "@govoice/ksef/format"
import { StrictXml } from "@govoice/ksef/xml"
import * as fc from "fast-check"
import * as XmlValues from "../../src/format/XmlValues.ts"

const sample = readFileSync(new URL("../../../../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")

const nothing: InvoiceHeader.InvoiceHeader = {
  namespace: "",
  sellerNip: undefined,
  sellerName: undefined,
  buyerTaxId: undefined,
  buyerName: undefined,
  issueDate: undefined,
  invoiceNumber: undefined,
  kind: undefined,
  currency: undefined,
  total: undefined,
  formCode: undefined,
  schemaVersion: undefined,
  hasAttachment: false
}

describe("InvoiceHeader", () => {
  it("reads an invoice", () => {
    assert.deepStrictEqual(InvoiceHeader.read(sample), {
      namespace: "http://crd.gov.pl/wzor/2025/06/25/13775/",
      sellerNip: "5265877635",
      sellerName: "Sprzedawca Testowy sp. z o.o.",
      buyerTaxId: "5260250274",
      buyerName: "Nabywca Testowy",
      issueDate: "2026-11-20",
      invoiceNumber: "FV/2026/11/0001",
      kind: "VAT",
      currency: "PLN",
      total: "123.00",
      formCode: "FA (3)",
      schemaVersion: "1-0E",
      hasAttachment: false
    })
  })

  it.each<[what: string, xml: string, wanted: Partial<InvoiceHeader.InvoiceHeader>]>([
    ["a document without any", "<a/>", {}],
    ["an attachment", '<t:F xmlns:t="urn:x"><t:Zalacznik/></t:F>', { namespace: "urn:x", hasAttachment: true }],
    ["no attachment elsewhere", "<Zalacznik><Fa><Zalacznik/></Fa></Zalacznik>", {}],
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
      "the numbers of the seller and the buyer",
      "<F><Podmiot2><DaneIdentyfikacyjne><NIP>1</NIP></DaneIdentyfikacyjne></Podmiot2><Podmiot1><DaneIdentyfikacyjne><NIP>2</NIP></DaneIdentyfikacyjne></Podmiot1></F>",
      { sellerNip: "2", buyerTaxId: "1" }
    ],
    [
      "a VAT number of the buyer with its country",
      "<F><Podmiot2><DaneIdentyfikacyjne><KodUE>DE</KodUE><NrVatUE>123456789</NrVatUE></DaneIdentyfikacyjne></Podmiot2></F>",
      { buyerTaxId: "DE123456789" }
    ],
    [
      "another identifier of the buyer",
      "<F><Podmiot2><DaneIdentyfikacyjne><KodKraju>US</KodKraju><NrID>12-3</NrID></DaneIdentyfikacyjne></Podmiot2></F>",
      { buyerTaxId: "12-3" }
    ],
    [
      "the fields of an FA_RR",
      "<F><FakturaRR><KodWaluty>EUR</KodWaluty><P_4A>2026-11-01</P_4A><P_4B>2026-11-02</P_4B><P_4C>RR  7</P_4C><P_11_1>1</P_11_1><P_12_1>107.00</P_12_1><P_12_1W>450.00</P_12_1W><RodzajFaktury>VAT_RR</RodzajFaktury></FakturaRR></F>",
      { issueDate: "2026-11-02", invoiceNumber: "RR 7", kind: "VAT_RR", currency: "EUR", total: "107.00" }
    ],
    [
      "the same names elsewhere",
      "<F><P_2>1</P_2><x><Fa><P_2>2</P_2></Fa></x><Fa><x><P_2>3</P_2></x></Fa><NIP>4</NIP></F>",
      {}
    ],
    ["names below the place", "<F><Fa><P_2><x>1</x></P_2></Fa></F>", {}],
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
    ["nothing of a document that is not well-formed", "<F><Fa><P_2>1</P_2></F>", {}],
    ["a document type", "<!DOCTYPE F [<!ENTITY x 'y'>]><F><Fa><P_2>&x;</P_2></Fa></F>", {}]
  ])("reads %s", (_, xml, wanted) => {
    assert.deepStrictEqual(InvoiceHeader.read(xml), { ...nothing, ...wanted })
  })

  it("reads the same values as XmlValues at the same paths", () => {
    const names = ["Fa", "P_1", "P_2", "Podmiot1", "DaneIdentyfikacyjne", "NIP", "Naglowek", "KodFormularza", "x"]
    const { element } = fc.letrec<{ readonly element: string }>((tie) => ({
      element: fc
        .tuple(
          fc.constantFrom(...names),
          fc.constantFrom("", ' kodSystemowy="A"', ' kodSystemowy=" B  C " wersjaSchemy="1"'),
          fc.array(
            fc.oneof({ depthSize: "medium" }, fc.constantFrom("1", " 2 ", "&amp;", "<![CDATA[3]]>"), tie("element")),
            { maxLength: 4 }
          )
        )
        .map(([name, attributes, content]) => `<${name}${attributes}>${content.join("")}</${name}>`)
    }))
    const field = (root: XmlValues.Root, ...path: ReadonlyArray<string>) =>
      XmlValues.collapsed(XmlValues.text(root, ...path) ?? "") || undefined
    fc.assert(
      fc.property(fc.array(element, { maxLength: 6 }), (content) => {
        const xml = `<F xmlns="urn:x">${content.join("")}</F>`
        const root = XmlValues.read(xml)!
        const form = XmlValues.all(root, "Naglowek", "KodFormularza")[0]?.attributes
        assert.deepStrictEqual(InvoiceHeader.read(xml), {
          namespace: "urn:x",
          sellerNip: field(root, "Podmiot1", "DaneIdentyfikacyjne", "NIP"),
          sellerName: undefined,
          buyerTaxId: undefined,
          buyerName: undefined,
          issueDate: field(root, "Fa", "P_1"),
          kind: undefined,
          currency: undefined,
          total: undefined,
          invoiceNumber: field(root, "Fa", "P_2"),
          formCode: XmlValues.collapsed(form?.get("kodSystemowy") ?? "") || undefined,
          schemaVersion: XmlValues.collapsed(form?.get("wersjaSchemy") ?? "") || undefined,
          hasAttachment: false
        })
      }),
      { numRuns: 1000 }
    )
  })

  // In CPU time, in turns, and from the fastest of several rounds, because other processes slow down single rounds.
  it("takes little more processor time than the strict parser alone", () => {
    const cpuMs = (run: () => unknown): number => {
      const before = process.cpuUsage()
      for (let time = 0; time < 100; time++) run()
      const { system, user } = process.cpuUsage(before)
      return (system + user) / 1000
    }
    const rounds = Array.from({ length: 20 }, () => ({
      verdict: cpuMs(() => StrictXml.read(sample)),
      header: cpuMs(() => InvoiceHeader.read(sample))
    }))
    const fastest = (name: "verdict" | "header") => Math.min(...rounds.map((round) => round[name]))
    assert.isBelow(fastest("header") / fastest("verdict"), 2)
  })
})
