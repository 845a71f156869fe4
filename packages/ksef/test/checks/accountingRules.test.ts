import { DocumentChecker, Violation } from "@govoice/ksef/checks"
import { assert, beforeAll, describe, it } from "vitest"
import { documents, fa3, fa3Correction, faRr } from "./documents.ts"

let checker: DocumentChecker.DocumentChecker
beforeAll(async () => {
  checker = await DocumentChecker.load()
})

const today = "2026-11-20"

const warningsOf = (xml: string, day = today) =>
  checker.check(xml, { today: day, environment: "prod" }).warnings.map((each) => `${each.code} ${Violation.line(each)}`)

const edited = (xml: string, ...edits: ReadonlyArray<readonly [from: RegExp | string, to: string]>): string =>
  edits.reduce((text, [from, to]) => {
    const next = text.replace(from, to)
    assert.notStrictEqual(next, text, `the edit of ${from} changes the document`)
    return next
  }, xml)

const third = (role: string) =>
  `<Podmiot3><DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Szkoła</Nazwa></DaneIdentyfikacyjne><Rola>${role}</Rola></Podmiot3><Fa>`

const account = (number: string, more = ""): readonly [RegExp, string] => [
  /<NrRB>[^]*<\/SWIFT>/,
  `<NrRB>${number}</NrRB>${more}`
]

const inEuros: readonly [RegExp, string] = [/<KodWaluty>PLN/, "<KodWaluty>EUR"]

describe("a document that keeps the rules of accounting", () => {
  it.each(Object.entries(documents))(
    "%s: has no warning but about its sums and the invoice that it corrects",
    (_, xml) => {
      assert.deepStrictEqual(
        warningsOf(xml).filter((each) => !/differ|corrected_number/.test(each)),
        []
      )
    }
  )

  it.each<[what: string, xml: () => string]>([
    ["an invoice", () => fa3],
    ["a Polish account", () => edited(fa3, account("61 1090 1014 0000 0712 1981 2874"))],
    ["a Polish account with its country", () => edited(fa3, account("PL61109010140000071219812874"))],
    ["an account abroad", () => edited(fa3, account("DE89370400440532013000"))],
    ["an account in no form that is known", () => edited(fa3, account("123456789012"))],
    [
      "an account of a bank that is named",
      () => edited(fa3, account("123456789012345678901", "<SWIFT>CHASUS33</SWIFT>"))
    ],
    [
      "a rate of an earlier year",
      () => edited(fa3, [/<P_12>23/g, "<P_12>22"], ["<P_14_1>46.00", "<P_14_1>44.00"], ["<P_15>246.00", "<P_15>244.00"])
    ],
    ["a sum that is no amount, which the schema reports", () => edited(fa3, ["<P_13_1>200.00", "<P_13_1>200,00"])],
    ["a tax that is no amount", () => edited(fa3, ["<P_14_1>46.00", "<P_14_1>46,00"])],
    ["a total that is no amount", () => edited(fa3, ["<P_15>246.00", "<P_15>246,00"])],
    ["a line that is no amount", () => edited(fa3, [/<P_11>(\d+)\./, "<P_11>$1,"])],
    ["one grosz for each line", () => edited(fa3, ["<P_15>246.00", "<P_15>246.02"])],
    ["a unit of a local government that is named", () => edited(fa3, ["<JST>2", "<JST>1"], ["<Fa>", third("8")])],
    ["a member of a VAT group that is named", () => edited(fa3, ["<GV>2", "<GV>1"], ["<Fa>", third("10")])],
    [
      "another currency, with its rate",
      () => edited(fa3, inEuros, ["</P_12>", "</P_12><KursWaluty>4.25</KursWaluty>"])
    ],
    [
      "a correction of an invoice from before KSeF",
      () =>
        edited(
          fa3Correction,
          ["2026-11-01", "2026-01-31"],
          [/<P_13_1>[^]*<P_15>246.00/, "<P_13_1>100.00</P_13_1><P_14_1>23.00</P_14_1><P_15>123.00"]
        )
    ]
  ])("%s has no warning", (_, xml) => {
    assert.deepStrictEqual(warningsOf(xml()), [])
  })
})

describe("a warning about", () => {
  it.each<[what: string, xml: () => string, code: string, message: RegExp]>([
    [
      "the amount due",
      () => edited(fa3, ["<P_15>246.00", "<P_15>246.03"]),
      "total_differs",
      /Faktura\/Fa\/P_15: the amount due is 246\.03, .* add up to 246\.00\./
    ],
    [
      "the net value of a rate",
      () => edited(fa3, ["<P_13_1>200.00", "<P_13_1>201.00"], ["<P_15>246", "<P_15>247"]),
      "lines_differ",
      /Faktura\/Fa\/P_13_1: the lines of this rate add up to 200\.00, and P_13_1 is 201\.00\./
    ],
    [
      "a rate without its sum",
      () => fa3.replace(/(?<=<P_12>[^]*<P_12>)23/, "8"),
      "lines_differ",
      /Faktura\/Fa: the lines of this rate add up to 100\.00, and P_13_2 is missing\./
    ],
    [
      "gross lines",
      () =>
        edited(fa3, [/<P_9A>/g, "<P_9B>"], [/<\/P_9A>/g, "</P_9B>"], [/<P_11>/g, "<P_11A>"], [/<\/P_11>/g, "</P_11A>"]),
      "lines_differ",
      /P_15: the amount due is 246\.00, and the gross values of the lines \(P_11A\) add up to 200\.00\./
    ],
    [
      "the tax of a rate",
      () => edited(fa3, ["<P_14_1>46.00", "<P_14_1>30.00"], ["<P_15>246.00", "<P_15>230.00"]),
      "tax_differs",
      /Faktura\/Fa\/P_14_1: the tax is 30\.00, and 23 % of P_13_1, which is 200\.00, are 46\.00\./
    ],
    [
      "a Polish account number that is too short",
      () => edited(fa3, account("1234567890123456789012345")),
      "account_number_wrong",
      /RachunekBankowy\/NrRB: "1234567890123456789012345" has 25 digits/
    ],
    [
      "a Polish account number with wrong check digits",
      () => edited(fa3, account("61 1090 1014 0000 0712 1981 2875")),
      "account_number_wrong",
      /NrRB: "61 1090 .*" is not an account number: its check digits are wrong/
    ],
    [
      "a Polish account number with wrong check digits and the bank",
      () => edited(fa3, account("62109010140000071219812874", "<SWIFT>WBKPPLPP</SWIFT>")),
      "account_number_wrong",
      /its check digits are wrong/
    ],
    [
      "an IBAN with wrong check digits",
      () => edited(fa3, account("DE88370400440532013000")),
      "account_number_wrong",
      /its check digits are wrong/
    ],
    [
      "a line number that is used twice",
      () => edited(fa3, ["<NrWierszaFa>2", "<NrWierszaFa>1"]),
      "line_number_repeated",
      /Faktura\/Fa\/FaWiersz\[2\]\/NrWierszaFa: the line number "1" is used twice\./
    ],
    [
      "a line number that is missing",
      () => edited(fa3, ["<NrWierszaFa>2", "<NrWierszaFa>3"]),
      "line_number_missing",
      /FaWiersz\[2\]\/NrWierszaFa: the line number is "3" where 2 is expected/
    ],
    [
      "a unit of a local government that is not named",
      () => edited(fa3, ["<JST>2", "<JST>1"]),
      "recipient_missing",
      /Faktura\/Podmiot2\/JST: .* add a Podmiot3 with the Rola 8\./
    ],
    [
      "a member of a VAT group that is not named",
      () => edited(fa3, ["<GV>2", "<GV>1"], ["<Fa>", third("8")]),
      "recipient_missing",
      /Faktura\/Podmiot2\/GV: .* add a Podmiot3 with the Rola 10\./
    ],
    [
      "the NIP of the buyer as an EU number",
      () => edited(fa3, ["<NIP>5260250274</NIP>", "<KodUE>PL</KodUE><NrVatUE>5260250274</NrVatUE>"]),
      "buyer_nip_misplaced",
      /Podmiot2\/DaneIdentyfikacyjne\/NrVatUE: "5260250274" is a Polish NIP/
    ],
    [
      "the NIP of the buyer as another number",
      () => edited(fa3, ["<NIP>5260250274</NIP>", "<NrID>PL 526-025-02-74</NrID>"]),
      "buyer_nip_misplaced",
      /DaneIdentyfikacyjne\/NrID: "PL 526-025-02-74" is a Polish NIP/
    ],
    [
      "the buyer as issuer in self-billing",
      () => edited(fa3, ["<P_17>2", "<P_17>1"], ["<Fa>", third("5")]),
      "issuer_repeated",
      /Faktura\/Podmiot3\/Rola: in self-billing/
    ],
    [
      "a correction of nothing",
      () => edited(fa3, ["<RodzajFaktury>VAT", "<RodzajFaktury>KOR"]),
      "corrected_invoice_missing",
      /RodzajFaktury: the correction does not say/
    ],
    [
      "a corrected invoice without its number",
      () => fa3Correction,
      "corrected_number_missing",
      /DaneFaKorygowanej\/NrKSeFN: the corrected invoice of 2026-11-01 is marked as issued outside KSeF/
    ],
    [
      "another currency without its rate",
      () => edited(fa3, inEuros),
      "exchange_rate_missing",
      /KodWaluty: the invoice is in "EUR" and has no exchange rate/
    ],
    [
      "a date of issue that has passed",
      () => edited(fa3, ["<P_1>2026-11-20", "<P_1>2026-11-19"]),
      "issue_date_past",
      /Faktura\/Fa\/P_1: the date of issue 2026-11-19 is before today in Poland, 2026-11-20/
    ],
    [
      "the amount due to a farmer",
      () => edited(faRr, [/<P_12_1>[^<]*/, "<P_12_1>1.00"]),
      "total_differs",
      /Faktura\/FakturaRR\/P_12_1: the amount due is 1\.00/
    ],
    [
      "a discouraged character",
      () => edited(fa3, ["Nabywca", "Naby\u0086wca"]),
      "discouraged_character",
      /line 27, column 18: the character U\+0086 is discouraged; remove it\./
    ]
  ])("%s stands with line and column, and refuses nothing", (_, xml, code, message) => {
    const found = warningsOf(xml()).filter((each) => each.startsWith(`${code} `))
    assert.isNotEmpty(found, warningsOf(xml()).join("\n"))
    assert.match(found[0]!, message)
    assert.match(found[0]!, / line \d+, column \d+/)
    assert.strictEqual(checker.check(xml(), { today, environment: "prod" }).count, 0)
  })

  it("discouraged characters is a violation outside of production", () => {
    const xml = edited(fa3, ["Nabywca", "Naby\u0086wca"])
    for (const environment of ["test", "demo", "custom"] as const) {
      const { count, warnings } = checker.check(xml, { today, environment })
      assert.deepStrictEqual({ count, warnings }, { count: 1, warnings: [] })
    }
  })

  it("names its source, and there are 20 at most", () => {
    const [first] = checker.check(edited(fa3, ["<JST>2", "<JST>1"]), { today, environment: "prod" }).warnings
    assert.include(first?.source, "FA(3)")
    const line = /<FaWiersz>[^]*?<\/FaWiersz>/.exec(fa3)![0]
    assert.lengthOf(warningsOf(fa3.replace(line, line.repeat(30))), 20)
  })
})

describe("the faults of a document", () => {
  it("of schema, values and rules are shown together, in the order of the document", () => {
    const xml = edited(
      fa3,
      ["5260250274", "5260250275"],
      ["<P_15>246.00", "<P_15>246,00"],
      ["<P_1>2026-11-20", "<P_1>2026-11-21"]
    )
    const { count, violations } = checker.check(xml, { today, environment: "prod" })
    assert.strictEqual(count, 3)
    assert.deepStrictEqual(
      violations.map(({ path }) => path?.replace(/ .*/, "")),
      ["Faktura/Podmiot2/DaneIdentyfikacyjne/NIP", "Faktura/Fa/P_1", "Faktura/Fa/P_15"]
    )
  })

  it("are found after a byte order mark, too", () => {
    const { violations } = checker.check(`\uFEFF${edited(fa3, ["<P_15>246.00", "<P_15>246,00"])}`, {
      today,
      environment: "prod"
    })
    assert.deepStrictEqual(
      violations.map(({ column, line }) => [line, column]),
      [
        [1, 1],
        [44, 5]
      ]
    )
  })
})
