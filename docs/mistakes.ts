/**
 * The most frequent mistakes in invoice documents, each with the message that the checker answers it with.
 */
import { readFileSync } from "node:fs"
import { DocumentChecker, Violation } from "../packages/ksef/src/checks.ts"

/** One mistake: an edit of the example invoice, and how to mend it. */
interface Mistake {
  readonly title: string
  readonly from: string
  readonly to: string
  readonly cure: string
}

const mistakes: ReadonlyArray<Mistake> = [
  {
    title: "A decimal comma",
    from: "<P_13_1>100.00</P_13_1>",
    to: "<P_13_1>100,00</P_13_1>",
    cure: "Format amounts without the locale of the program: a point, no separator of thousands, at most two digits after the point."
  },
  {
    title: "A date in Polish notation",
    from: "<P_1>2026-11-20</P_1>",
    to: "<P_1>20.11.2026</P_1>",
    cure: "Write dates as `YYYY-MM-DD`."
  },
  {
    title: "A missing element",
    from: "<P_2>FV/2026/11/0001</P_2>",
    to: "",
    cure: "Add the element that the message names, in front of the element at the position."
  },
  {
    title: "Elements out of order",
    from: "<P_1>2026-11-20</P_1><P_2>FV/2026/11/0001</P_2>",
    to: "<P_2>FV/2026/11/0001</P_2><P_1>2026-11-20</P_1>",
    cure: "The schema fixes the order. Serialize in the order of the schema, not of your data."
  },
  {
    title: "A NIP with prefix or hyphens",
    from: "<NIP>5260250274</NIP>",
    to: "<NIP>PL 526-025-02-74</NIP>",
    cure: "Send only the ten digits. The country code of a foreign number goes into `KodUE`."
  },
  {
    title: "A percent sign in the tax rate",
    from: "<P_12>23</P_12>",
    to: "<P_12>23%</P_12>",
    cure: "Use the codes of the schema: `23`, `8`, `5`, `0 KR`, `zw` and so on."
  },
  {
    title: "An empty optional element",
    from: "<P_8A>szt.</P_8A>",
    to: "<P_8A></P_8A>",
    cure: "Leave an optional element out when it has no value."
  },
  {
    title: "A value that is not a code",
    from: "<RodzajFaktury>VAT</RodzajFaktury>",
    to: "<RodzajFaktury>FAKTURA</RodzajFaktury>",
    cure: "Use one of the values that the message lists."
  },
  {
    title: "A boolean in words",
    from: "<P_16>2</P_16>",
    to: "<P_16>false</P_16>",
    cure: "The schema has `1` for yes and `2` for no."
  },
  {
    title: "A document of the former form",
    from: "http://crd.gov.pl/wzor/2025/06/25/13775/",
    to: "http://crd.gov.pl/wzor/2023/06/29/12648/",
    cure: "Create documents of FA (3): its elements and its namespace."
  }
]

const invoice = readFileSync(new URL("../examples/invoices/fa3-vat23.xml", import.meta.url), "utf8")
const checker = await DocumentChecker.load()

const section = ({ cure, from, title, to }: Mistake, index: number): string => {
  if (!invoice.includes(from)) throw new Error(`The example invoice has no ${from}`)
  const report = checker.check(invoice.replace(from, to), { today: "2026-11-22", environment: "demo" })
  const [violation] = report.violations
  if (violation === undefined) throw new Error(`${title}: no violation`)
  return [
    `### ${index + 1}. ${title}`,
    to === "" ? `The document without \`${from}\`:` : `\`${to}\``,
    `\`\`\`text\n${wrapped(Violation.line(violation))}\n\`\`\``,
    cure
  ].join("\n\n")
}

// As wide as the pages are.
const wrapped = (text: string): string =>
  text
    .match(/.{1,110}(?:\s|$)/gu)!
    .map((line) => line.trimEnd())
    .join("\n")

/** The sections of the guide, one for each mistake. */
export const sections = mistakes.map(section).join("\n\n")
