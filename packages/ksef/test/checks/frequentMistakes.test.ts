/** The kinds of mistakes that a public collection of wrong invoices has (ksefuj/ksefuj, test-fixtures/error-cases), in documents of our own. */
import { DocumentChecker } from "@govoice/ksef/checks"
import { assert, beforeAll, describe, it } from "vitest"
import { fa3, fa3Correction } from "./documents.ts"

let checker: DocumentChecker.DocumentChecker
beforeAll(async () => {
  checker = await DocumentChecker.load()
})

type Edit = readonly [from: RegExp | string, to: string]

type Mistake = readonly [what: string, edits: ReadonlyArray<Edit>, found: RegExp, of?: string]

const mistakes: ReadonlyArray<Mistake> = [
  ["no amount due", [["<P_15>246.00</P_15>", ""]], /P_15 .* is missing/],
  [
    "elements in the wrong order",
    [[/(<P_1>.*<\/P_1>)(\s*)([^]*?)(<P_2>.*<\/P_2>)/, "$4$2$3$1"]],
    /P_2 .*must come after/
  ],
  ["a misspelled element", [[/Nazwa>/g, "Nazw>"]], /Nazw: is not an element/],
  ["no annotations", [[/<P_16>[^]*<\/P_18A>/, ""]], /P_16, P_17, P_18 and P_18A are missing/],
  ["a unit of a local government without its member", [["<JST>2", "<JST>1"]], /recipient_missing/],
  [
    "an EU number in the wrong place",
    [["<NIP>5260250274</NIP>", "<NrVatUE>DE123456789</NrVatUE>"]],
    /NrVatUE .*is not allowed in this place/
  ],
  [
    "a Polish NIP as an EU number",
    [["<NIP>5260250274</NIP>", "<KodUE>PL</KodUE><NrVatUE>5260250274</NrVatUE>"]],
    /buyer_nip_misplaced/
  ],
  ["a GTU as an element", [["</P_12>", "</P_12><GTU_12>1</GTU_12>"]], /GTU_12: is not an element/],
  ["too many decimals", [["<P_15>246.00", "<P_15>246.001"]], /P_15 .*too many digits after the decimal point/],
  [
    "two choices of one",
    [["<P_19N>1</P_19N>", "<P_19>1</P_19><P_19A>art. 43</P_19A><P_19N>1</P_19N>"]],
    /Zwolnienie\/P_19N/
  ],
  ["another currency without its rate", [["<KodWaluty>PLN", "<KodWaluty>USD"]], /exchange_rate_missing/],
  ["separators of thousands", [["<P_13_1>200.00", "<P_13_1>1,200.00"]], /"1,200.00" is not a decimal number/],
  ["an element that is not closed", [["</FaWiersz>", ""]], /not well-formed/],
  [
    "a KSeF number that is none",
    [["<NrKSeFN>1</NrKSeFN>", "<NrKSeF>1</NrKSeF><NrKSeFFaKorygowanej>5265877635-DIFFERENT</NrKSeFFaKorygowanej>"]],
    /NrKSeFFaKorygowanej .*is not a KSeF number/,
    fa3Correction
  ],
  [
    "a due date in the wrong place",
    [[/(<TerminPlatnosci>[^]*<\/TerminPlatnosci>)\s*(<Forma.*)/, "$2$1"]],
    /TerminPlatnosci/
  ],
  ["a bare ampersand", [["Sprzedawca", "A & B"]], /ampersand/],
  ["a VAT group without its member", [["<GV>2", "<GV>1"]], /recipient_missing/],
  ["no namespace", [[/ xmlns="[^"]*"/, ""]], /the root element has no namespace/],
  ["an empty number", [[/<P_2>[^<]*/, "<P_2>"]], /P_2 .*is empty/],
  ["a date in another notation", [[/<P_1>[^<]*/, "<P_1>20/11/2026"]], /P_1 .*is not a date; write 2026-11-20/],
  [
    "a wrong tax",
    [
      ["<P_14_1>46.00", "<P_14_1>30.00"],
      ["<P_15>246.00", "<P_15>230.00"]
    ],
    /tax_differs/
  ],
  ["a country that is none", [["<KodKraju>PL", "<KodKraju>POL"]], /KodKraju .*"POL" is not allowed/],
  [
    "an account number that is too short",
    [[/<NrRB>[^]*<\/SWIFT>/, "<NrRB>7311111111111111111111111</NrRB>"]],
    /account_number_wrong/
  ],
  ["a line number that is used twice", [["<NrWierszaFa>2", "<NrWierszaFa>1"]], /line_number_repeated/]
]

describe("the mistakes of a public collection", () => {
  for (const [what, edits, found, of = fa3] of mistakes) {
    it(`${what} is a violation or a warning`, () => {
      const xml = edits.reduce((text, [from, to]) => text.replace(from, to), of)
      assert.notStrictEqual(xml, of)
      const { violations, warnings } = checker.check(xml, { today: "2026-11-20", environment: "prod" })
      const all = [
        ...violations.map(({ message, path = "" }) => `${path}: ${message}`),
        ...warnings.map(({ code, message, path = "" }) => `${code} ${path}: ${message}`)
      ]
      assert.isTrue(
        all.some((one) => found.test(one)),
        all.join("\n")
      )
    })
  }
})
