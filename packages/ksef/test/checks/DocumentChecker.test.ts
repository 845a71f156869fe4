import { DocumentChecker, Violation } from "@govoice/ksef/checks"
import { schemaFile } from "@govoice/ksef/schemas"
import { StrictXml } from "@govoice/ksef/xml"
import { assert, beforeAll, describe, expect, it } from "vitest"
import * as Libxml2 from "../xml/libxml2.ts"
import { documents, fa3, fa3Prefixed, faRr, fa3Correction } from "./documents.ts"
import { type Fault, make } from "./faults.ts"
import { imported } from "./mutations.ts"

const options: DocumentChecker.CheckOptions = { today: "2026-11-22", environment: "demo" }

let checker: DocumentChecker.DocumentChecker
beforeAll(async () => {
  checker = await DocumentChecker.load()
})

const check = (xml: string) => checker.check(xml, options)
const messageOf = (xml: string): string | undefined => Violation.format(check(xml))
const edited = (from: RegExp | string, to: string): string => {
  const xml = fa3.replace(from, to)
  assert.notStrictEqual(xml, fa3, "the edit changes the document")
  return xml
}

const isValidByLibxml2 = Libxml2.validator(schemaFile("schemat_FA(3)_v1-0E.xsd"), imported)

describe("a valid document", () => {
  it.each(Object.entries(documents))("%s has no violation", (_, xml) => {
    assert.strictEqual(messageOf(xml), undefined)
    assert.isDefined(check(xml).form)
  })
})

describe("a document with one fault", () => {
  let broken: ReadonlyArray<Fault>
  beforeAll(() => {
    broken = make(fa3).filter(({ xml }) => isValidByLibxml2(xml) !== undefined)
  })

  it("is checked in more than 120 different forms", () => {
    assert.isAbove(broken.length, 120)
    assert.strictEqual(new Set(broken.map(({ indexes, name }) => `${name} ${indexes[0]}`)).size, broken.length)
  })

  it("is refused at the position where a reader sees the fault, which is on libxml2's line", () => {
    for (const { indexes, name, xml } of broken) {
      const { column, line, message } = check(xml).violations[0]!
      const positions = indexes.map((index) => StrictXml.positionAt(xml, index))
      assert.deepInclude(positions, { line, column }, `${name}: ${message}`)
      const byLibxml2 = isValidByLibxml2(xml)!
      assert.strictEqual(line, byLibxml2.line, name)
      assert.strictEqual(check(xml).count, byLibxml2.places, name)
    }
  })

  it("is refused in a sentence without the terms of libxml2", () => {
    for (const { name, xml } of broken) {
      const { message } = check(xml).violations[0]!
      assert.notMatch(message, /[{}]|http|atomic type|facet|not expected|content type|pattern/, name)
      assert.isAtMost(message.length, 300, name)
    }
  })

  it("is refused with the messages recorded in messages.txt", async () => {
    const rows = broken.map(({ name, xml }) => `${name}\n    ${Violation.line(check(xml).violations[0]!)}\n`)
    await expect([...new Set(rows)].join("\n")).toMatchFileSnapshot("messages.txt")
  })
})

const registers = (content: string): string => `<Stopka><Rejestry>${content}</Rejestry></Stopka></Faktura>`

describe("the message about an invalid document", () => {
  it.each<[fault: string, xml: () => string, message: string]>([
    [
      "of a decimal comma",
      () => edited("<P_13_1>200.00", "<P_13_1>200,00"),
      'invoice_xml is not a valid FA (3) document: line 42, column 5, Faktura/Fa/P_13_1 (Suma wartości sprzedaży netto objętej stawką podstawową): "200,00" is not a decimal number; write 200.00.'
    ],
    [
      "of a missing element",
      () => edited(/ *<P_2>.*\n/, ""),
      "invoice_xml is not a valid FA (3) document: line 40, column 5, Faktura/Fa/P_6 (Data dokonania lub zakończenia dostawy towarów lub wykonania usługi lub data otrzymania…): P_2 (Kolejny numer faktury) is missing before it."
    ],
    [
      "of the second of two lines",
      () => fa3.replace(/(?<=<P_12>[^]*<P_12>)23/, "23%"),
      'invoice_xml is not a valid FA (3) document: line 78, column 7, Faktura/Fa/FaWiersz[2]/P_12 (Stawka podatku): "23%" is not allowed; write "23".'
    ],
    [
      "of a date in the future",
      () => edited("<P_1>2026-11-20", "<P_1>2026-11-23"),
      "invoice_xml is not a valid FA (3) document: line 38, column 5, Faktura/Fa/P_1: the date of issue 2026-11-23 is later than today in Poland, 2026-11-22."
    ],
    [
      "of a wrong check digit",
      () => edited("5260250274", "5260250275"),
      'invoice_xml is not a valid FA (3) document: line 26, column 7, Faktura/Podmiot2/DaneIdentyfikacyjne/NIP: "5260250275" is not a NIP: its check digit is wrong.'
    ],
    [
      "of a KSeF number",
      () =>
        fa3Correction.replace(
          "<NrKSeFN>1</NrKSeFN>",
          "<NrKSeF>1</NrKSeF><NrKSeFFaKorygowanej>1-2</NrKSeFFaKorygowanej>"
        ),
      'invoice_xml is not a valid FA (3) document: line 66, column 25, Faktura/Fa/DaneFaKorygowanej/NrKSeFFaKorygowanej (Numer identyfikujący fakturę korygowaną w KSeF): "1-2" is not a KSeF number such as 5265877635-20260201-0A1B2C3D4E5F-6A.'
    ],
    [
      "of a processing instruction",
      () => edited("<Fa>", "<?target data?><Fa>"),
      "invoice_xml is not a valid FA (3) document: line 36, column 3: processing instructions (<?…?>) are not allowed; remove it."
    ],
    [
      "of a byte order mark",
      () => `\uFEFF${fa3}`,
      "invoice_xml is not a valid FA (3) document: line 1, column 1: the document begins with a byte order mark (U+FEFF); remove it."
    ],
    [
      "of a discouraged character",
      () => edited("Nabywca", "Naby\u0086wca"),
      "invoice_xml is not a valid FA (3) document: line 27, column 18: the character U+0086 is not allowed; remove it."
    ],
    [
      "of another form",
      () => edited("2025/06/25/13775", "2023/06/29/12648"),
      'invoice_xml: line 2, column 1, Faktura: FA (2) is not accepted; send FA (3) with xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/" or FA_RR (1) with xmlns="http://crd.gov.pl/wzor/2026/03/06/14189/".'
    ],
    [
      "of a document without a namespace",
      () => "<Faktura/>",
      'invoice_xml: line 1, column 1, Faktura: the root element has no namespace; send FA (3) with xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/" or FA_RR (1) with xmlns="http://crd.gov.pl/wzor/2026/03/06/14189/".'
    ],
    [
      "of another version of the form",
      () => edited('wersjaSchemy="1-0E"', 'wersjaSchemy="1-1E"'),
      'invoice_xml is not a valid FA (3) document: line 4, column 5, Faktura/Naglowek/KodFormularza: the attribute wersjaSchemy must be "1-0E" (got "1-1E").'
    ],
    [
      "of an element of another namespace",
      () => edited("<P_2>FV/2026/11/0001</P_2>", '<P_2 xmlns="">FV/2026/11/0001</P_2>'),
      'invoice_xml is not a valid FA (3) document: line 40, column 5, Faktura/Fa/P_2 (Kolejny numer faktury): has no namespace; every element of FA (3) is in "http://crd.gov.pl/wzor/2025/06/25/13775/".'
    ],
    [
      "of XML that is not well-formed",
      () => "<a>\n<b></a>",
      "invoice_xml: line 2, column 7: is not well-formed: close tag </a> found, </b> expected; <b> begins at line 2, column 1."
    ]
  ])("%s names line, column, element and remedy", (_, xml, message) => {
    assert.strictEqual(messageOf(xml()), message)
  })

  it("shows five violations and counts the others", () => {
    const report = check(fa3.replaceAll(/\.00</g, ",00<"))
    assert.strictEqual(report.count, 7)
    assert.strictEqual(report.violations.length, 5)
    assert.match(
      Violation.format(report)!,
      /: 7 violations\. \(1\) line 42, .* \(5\) line .*\. 2 more are not shown\.$/
    )
  })

  it("has the path of an element with a prefix", () => {
    const xml = fa3Prefixed.replace("<fa:P_11>100.00", "<fa:P_11>100,00")
    assert.include(messageOf(xml), "line 68, column 7, Faktura/Fa/FaWiersz[1]/P_11")
  })

  it("of a flat-rate farmer names the violation of the schema FA_RR", () => {
    const xml = faRr.replace("<P_4B>2026-11-20", "<P_4B>20.11.2026")
    assert.include(messageOf(xml), "Faktura/FakturaRR/P_4B")
    assert.include(messageOf(xml), '"20.11.2026" is not a date; write 2026-11-20.')
    assert.include(messageOf(faRr.replace("<P_4B>2026-11-20", "<P_4B>2026-12-20")), "later than today in Poland")
  })

  it.each([
    ["1,234", '"1,234" is not a decimal number; write it with a point, such as 1234.50.'],
    ["1\u00A0000.00", String.raw`"1\u{A0}000.00" is not a decimal number; write 1000.00.`]
  ])("of the amount %j proposes a correction only where the amount is unambiguous", (amount, message) => {
    assert.include(messageOf(edited("<P_13_1>200.00", `<P_13_1>${amount}`)), message)
  })

  it.each([
    [
      "<P_1>2026-11-20",
      "<P_1>2026-11-20Z",
      '"2026-11-20Z" is not a date without a time zone: YYYY-MM-DD; write 2026-11-20.'
    ],
    ["</Faktura>", registers("<KRS>123</KRS>"), '"123" is not a KRS number: ten digits.'],
    ["</Faktura>", registers("<REGON>123</REGON>"), '"123" is not a REGON; write its 9 or 14 digits without spaces.'],
    [
      "</Platnosc>",
      "<LinkDoPlatnosci>https://example.com/</LinkDoPlatnosci></Platnosc>",
      "is not a payment link: http"
    ],
    ["ry@example.com", "ry", '"faktury" is not an email address.'],
    [
      "<NIP>5260250274</NIP>",
      "<NIP>5260250274</NIP><BrakID>1</BrakID>",
      "is not allowed in this place; expected here: Nazwa (Imię i nazwisko lub nazwa)."
    ],
    [
      "<P_6>2026-11-20</P_6>",
      '<P_6 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>',
      "must not have xsi:nil; leave the element out."
    ],
    [
      "<P_1>2026",
      '<P_1 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xsd:date">2026',
      "has an attribute xsi:type that does not fit; leave it out."
    ],
    ["<P_2>", '<P_2 xml:id="a">', "the attribute xml:id is not allowed here; remove it."],
    ["<P_1>2026", "<P_1>1999", '"1999-11-20" is too early; the earliest date is 2006-01-01.'],
    ["<KodKraju>PL", "<KodKraju>POL", 'must be one of the 254 codes in the schema, such as "PL".'],
    ["<KodWaluty>PLN", "<KodWaluty>zł", 'must be one of the 182 codes in the schema, such as "PLN".'],
    ["<P_2>", "<P_2>1</P_2><P_2>", "P_2[2] (Kolejny numer faktury): occurs twice; it may occur once."],
    ["<NIP>5260250274</NIP>", "", "NIP, KodUE, KodKraju, NrID or another one is missing before it."],
    [
      "2025/06/25/13775/",
      "2025/06/25/13775",
      'the namespace "http://crd.gov.pl/wzor/2025/06/25/13775" is not known; send'
    ]
  ])("about %s edited to %s names the remedy", (from, to, message) => {
    assert.include(messageOf(edited(from, to)), message)
  })

  it("numbers a party only where the document has several of its kind", () => {
    const third = (nip: string): string =>
      `<Podmiot3><DaneIdentyfikacyjne><NIP>${nip}</NIP><Nazwa>A</Nazwa></DaneIdentyfikacyjne><Rola>4</Rola></Podmiot3>`
    const paths = (xml: string) => check(xml).violations.map(({ path }) => path)
    const [wrong, right] = [third("5260250275"), third("5260250274")]
    assert.deepStrictEqual(paths(edited("<Fa>", `${wrong}<Fa>`)), ["Faktura/Podmiot3/DaneIdentyfikacyjne/NIP"])
    assert.deepStrictEqual(paths(edited("<Fa>", `${right}${wrong}<Fa>`)), [
      "Faktura/Podmiot3[2]/DaneIdentyfikacyjne/NIP"
    ])
    assert.deepStrictEqual(paths(edited("<Fa>", `${wrong}${right}<Fa>`)), [
      "Faktura/Podmiot3[1]/DaneIdentyfikacyjne/NIP"
    ])
  })

  it("refuses the internal identifier of a third party whose check digits are wrong", () => {
    const third = (id: string) =>
      edited(
        "<Fa>",
        `<Podmiot3><DaneIdentyfikacyjne><IDWew>${id}</IDWew><Nazwa>A</Nazwa></DaneIdentyfikacyjne><Rola>4</Rola></Podmiot3><Fa>`
      )
    assert.strictEqual(check(third("6824515772-12343")).count, 0)
    for (const id of ["6824515772-12344", "6824515773-12343"]) {
      const { count, violations } = check(third(id))
      assert.strictEqual(count, 1)
      assert.deepInclude(violations[0], {
        path: "Faktura/Podmiot3/DaneIdentyfikacyjne/IDWew",
        message: `"${id}" is not an internal identifier: a check digit is wrong`
      })
    }
  })

  it("names the root element that the form has", () => {
    assert.include(messageOf(fa3.replaceAll("Faktura", "faktura")), "faktura: the root element must be Faktura; send")
  })

  it("escapes line breaks, control characters and invisible characters of values", () => {
    const text = messageOf(edited("<NIP>5260250274", "<NIP>52\n✔&#155;31m&#x202e;\t"))
    assert.include(text, String.raw`"52\n✔\u{9B}31m\u{202E}\t" is not a NIP`)
    const attribute = messageOf(edited('kodSystemowy="FA (3)"', 'kodSystemowy="FA&#10;(3)"'))
    assert.include(attribute, String.raw`(got "FA\n(3)")`)
  })

  it("does not repeat a long name", () => {
    const name = "x".repeat(100)
    const text = messageOf(edited("<P_13_1>", `<${name} ${"x".repeat(40_000)}=""/><P_13_1>`))
    assert.include(text, `Faktura/Fa/${"x".repeat(60)}…: is not an element`)
    assert.isBelow(text!.length, 400)
    assert.isBelow(messageOf(edited("<Fa>", `<Fa ${"x".repeat(14_000)}="">`))!.length, 400)
  })

  it("does not repeat a long value", () => {
    assert.isBelow(messageOf(edited("<P_13_1>200.00", `<P_13_1>${"9".repeat(100_000)}`))!.length, 400)
    assert.isBelow(messageOf(edited("<P_13_1>200.00", `<P_13_1>${"🔑".repeat(10_000)}`))!.length, 500)
  })
})

describe("a document that is built to be expensive", () => {
  const filled = (from: string, unit: string): string =>
    edited(from, unit.repeat(Math.floor(400_000 / unit.length)) + from)

  it("gets positions only for the violations that are shown", () => {
    const xml = filled("<NIP>5260250274", "<NIP>5260250275</NIP>")
    const startedAt = performance.now()
    const report = check(xml)
    // With a position for each of the 19,000 violations, it takes 40 s.
    assert.isBelow(performance.now() - startedAt, 20_000)
    assert.isAbove(report.count, 19_000)
    assert.lengthOf(report.violations, 5)
  })

  it("gets an exact count of its 81,000 violations", () => {
    const row = "<FaWiersz><NrWierszaFa/><P_6A/><P_8B/><P_9A/><P_9B/><P_10/><P_11/><P_11A/><P_12/></FaWiersz>"
    const xml = fa3.replace(/<FaWiersz>[^]*<\/FaWiersz>/, row.repeat(9000))
    const report = check(xml)
    assert.strictEqual(report.count, 81_000)
    assert.lengthOf(report.violations, 5)
  })

  it("is refused for a long namespace, which libxml2 would repeat for each fault", () => {
    const rows = filled("<FaWiersz>", "<FaWiersz><p:x/></FaWiersz>")
    const message = "must have no namespace or prefix longer than 200 characters"
    assert.include(messageOf(rows.replace("<Faktura ", `<Faktura xmlns:p="urn:${"x".repeat(60_000)}" `)), message)
    const prefix = "p".repeat(201)
    assert.include(messageOf(fa3.replace("<Faktura ", `<Faktura xmlns:${prefix}="urn:p" `)), message)
    assert.isUndefined(messageOf(fa3.replace("<Faktura ", `<Faktura xmlns:p="urn:${"x".repeat(196)}" `)))
  })

  it.each(["<!---->", "<![CDATA[x]]>", "<?x?>"])("is refused for a text in many pieces, between %s", (between) => {
    const withPieces = (count: number) => messageOf(edited("<P_7>", `<P_7>${`a${between}`.repeat(count)}`)) ?? ""
    const message = "must have no text in more than 1,000 pieces"
    assert.include(withPieces(2000), message)
    assert.notInclude(withPieces(400), message)
    const betweenTags = edited("<FaWiersz>", `${`<FaWiersz>${between}</FaWiersz>`.repeat(1001)}<FaWiersz>`)
    assert.notInclude(messageOf(betweenTags), message)
  })
})

describe("FA (2)", () => {
  it("passes unchecked in the test environment only", () => {
    const xml = '<Faktura xmlns="http://crd.gov.pl/wzor/2023/06/29/12648/"/>'
    assert.strictEqual(checker.check(xml, { ...options, environment: "test" }).count, 0)
    assert.strictEqual(checker.check(xml, options).count, 1)
  })
})
