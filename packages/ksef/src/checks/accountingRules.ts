/**
 * The rules beyond the schema that KSeF does not enforce, and that accountants ask for. What breaks one of them is a warning.
 *
 * @since 0.1.0
 */
import * as Nip from "../format/Nip.ts"
import * as StrictXml from "../xml/StrictXml.ts"
import type { Field } from "./DocumentFields.ts"
import type { Group, InvoiceContent } from "./InvoiceContent.ts"
import { maxWarnings, quoted, type Warning } from "./Violation.ts"

/**
 * Returns the warnings about a well-formed document of a form that is checked, the first `maxWarnings` of them. `today` is the day
 * in Poland, `YYYY-MM-DD`.
 *
 * @category getters
 * @since 0.1.0
 */
export const warnings = (xml: string, content: InvoiceContent, today: string): ReadonlyArray<Warning> =>
  rules
    .flatMap((rule) => rule(content, today))
    .slice(0, maxWarnings)
    .map(({ code, index, message, path, source }) => ({
      ...StrictXml.positionAt(xml, index),
      code,
      path,
      message,
      source
    }))

interface Found extends Pick<Warning, "code" | "message" | "path" | "source"> {
  readonly index: number
}

type Rule = (content: InvoiceContent, today: string) => ReadonlyArray<Found>

const brochure = "Broszura informacyjna dotycząca struktury logicznej FA(3)"
const vatAct = (article: string): string => `ustawa o VAT, ${article}`

const about = (
  member: Pick<Field, "index" | "path">,
  code: Warning["code"],
  message: string,
  source: string
): Found => ({ index: member.index, path: member.path, code, message, source })

const textOf = (group: Group | undefined, name: string): string | undefined => group?.fields.get(name)?.text

// In cents, whose fractions an amount can have. NaN for a text that is no amount: the schema reports it, and nothing differs from
// NaN, so no rule makes a second fault of it.
const centsOf = (field: Field | undefined): number | undefined =>
  field && (/^-?\d+(\.\d+)?$/.test(field.text) ? Number(field.text) * 100 : Number.NaN)

const sum = (amounts: ReadonlyArray<number | undefined>): number =>
  amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0)

const formatted = (cents: number): string => (Math.round(cents) / 100).toFixed(2)

// One grosz for each line. The rest is the error of the arithmetic.
const differs = (left: number, right: number, lines: number): boolean =>
  Math.abs(left - right) > Math.max(lines, 1) + 0.01

const kindOf = ({ invoice }: InvoiceContent): string => textOf(invoice, "RodzajFaktury") ?? ""

const isCorrection = (content: InvoiceContent): boolean => kindOf(content).startsWith("KOR")

const netSums = [
  "P_13_1",
  "P_13_2",
  "P_13_3",
  "P_13_4",
  "P_13_5",
  "P_13_6_1",
  "P_13_6_2",
  "P_13_6_3",
  "P_13_7",
  "P_13_8",
  "P_13_9",
  "P_13_10",
  "P_13_11"
]
const taxSums = ["P_14_1", "P_14_2", "P_14_3", "P_14_4", "P_14_5"]

// The sum that the net values of a rate belong to.
const sumOfRate: Readonly<Record<string, string>> = {
  "23": "P_13_1",
  "22": "P_13_1",
  "8": "P_13_2",
  "7": "P_13_2",
  "5": "P_13_3",
  "4": "P_13_4",
  "3": "P_13_4",
  "0 KR": "P_13_6_1",
  "0 WDT": "P_13_6_2",
  "0 EX": "P_13_6_3",
  zw: "P_13_7",
  "np I": "P_13_8",
  "np II": "P_13_9",
  oo: "P_13_10"
}

// Of a settlement of advances, and of a simplified invoice, the members are other sums.
const total: Rule = (content) => {
  const { invoice, lines } = content
  const given = invoice?.fields.get("P_15")
  const due = centsOf(given)
  const sums = [...netSums, ...taxSums].map((name) => centsOf(invoice?.fields.get(name)))
  if (given === undefined || due === undefined || sums.every((each) => each === undefined)) return []
  if (!["VAT", "KOR", "ZAL"].includes(kindOf(content)) || !differs(sum(sums), due, lines.length)) return []
  const message = `the amount due is ${formatted(due)}, and the net values and taxes by rate (P_13, P_14) add up to ${formatted(sum(sums))}`
  return [about(given, "total_differs", message, brochure)]
}

// Lines of the state before a correction count against those after it.
const signed = (line: Group, name: string): number =>
  (centsOf(line.fields.get(name)) ?? 0) * (line.fields.has("StanPrzed") ? -1 : 1)

const linesByRate: Rule = (content) => {
  const { invoice, lines } = content
  if (invoice === undefined || lines.length === 0 || !["VAT", "KOR"].includes(kindOf(content))) return []
  const isNet = lines.every((line) => line.fields.has("P_11") && Object.hasOwn(sumOfRate, textOf(line, "P_12") ?? ""))
  if (!isNet) return []
  const byMember = new Map<string, { sum: number; count: number }>()
  for (const line of lines) {
    const member = sumOfRate[textOf(line, "P_12")!]!
    const before = byMember.get(member) ?? { sum: 0, count: 0 }
    byMember.set(member, { sum: before.sum + signed(line, "P_11"), count: before.count + 1 })
  }
  return Array.from(byMember).flatMap(([member, { count, sum: ofLines }]) => {
    const given = invoice.fields.get(member)
    const stated = centsOf(given) ?? 0
    if (!differs(ofLines, stated, count)) return []
    const message = `the lines of this rate add up to ${formatted(ofLines)}, and ${member} is ${given === undefined ? "missing" : formatted(stated)}`
    return [about(given ?? invoice, "lines_differ", message, brochure)]
  })
}

const ratesOf = [
  { net: "P_13_1", tax: "P_14_1", rates: [23, 22] },
  { net: "P_13_2", tax: "P_14_2", rates: [8, 7] },
  { net: "P_13_3", tax: "P_14_3", rates: [5] }
]

// A correction can be of lines of two rates that share a sum.
const taxByRate: Rule = (content) => {
  const { invoice, lines } = content
  if (!["VAT", "ZAL"].includes(kindOf(content))) return []
  return ratesOf.flatMap(({ net, rates, tax }) => {
    const given = invoice?.fields.get(tax)
    const stated = centsOf(given)
    const value = centsOf(invoice?.fields.get(net))
    if (given === undefined || stated === undefined || value === undefined) return []
    if (rates.some((rate) => !differs((value * rate) / 100, stated, lines.length))) return []
    const expected = formatted((value * rates[0]!) / 100)
    const message = `the tax is ${formatted(stated)}, and ${rates[0]} % of ${net}, which is ${formatted(value)}, are ${expected}`
    return [about(given, "tax_differs", message, vatAct("art. 106e ust. 7"))]
  })
}

// The remainder of the number, with its country and check digits at the end, and letters as numbers from 10.
const isIban = (text: string): boolean => {
  const digits = Array.from(`${text.slice(4)}${text.slice(0, 4)}`, (character) => Number.parseInt(character, 36)).join(
    ""
  )
  return BigInt(digits) % 97n === 1n
}

// A number of another country can have any form.
const accountNumbers: Rule = ({ accounts }) =>
  accounts.flatMap(({ fields }) => {
    const given = fields.get("NrRB")
    if (given === undefined) return []
    const text = given.text.replaceAll(/[\s-]/g, "").toUpperCase()
    const number = /^\d{26}$/.test(text) ? `PL${text}` : text
    const digits = /^(?:PL)?(\d{20,})$/.exec(text)?.[1]?.length
    if (digits !== undefined && digits !== 26 && !fields.has("SWIFT")) {
      const message = `${quoted(given.text)} has ${digits} digits, and a Polish account number has 26`
      return [about(given, "account_number_wrong", message, brochure)]
    }
    if (!/^[A-Z]{2}\d{2}[A-Z\d]{10,30}$/.test(number) || isIban(number)) return []
    const message = `${quoted(given.text)} is not an account number: its check digits are wrong`
    return [about(given, "account_number_wrong", message, brochure)]
  })

const grossLines: Rule = (content) => {
  const { invoice, lines } = content
  const given = invoice?.fields.get("P_15")
  const due = centsOf(given)
  const isGross = lines.every(({ fields }) => fields.has("P_11A") && !fields.has("P_11"))
  if (given === undefined || due === undefined || lines.length === 0 || !isGross || kindOf(content) !== "VAT") return []
  const ofLines = sum(lines.map((line) => signed(line, "P_11A")))
  if (!differs(ofLines, due, lines.length)) return []
  const message = `the amount due is ${formatted(due)}, and the gross values of the lines (P_11A) add up to ${formatted(ofLines)}`
  return [about(given, "lines_differ", message, brochure)]
}

// An invoice of a flat-rate farmer: the value, the refund of the tax, and both together.
const farmer: Rule = ({ invoice, lines }) => {
  const members = ["P_11_1", "P_11_2", "P_12_1"].map((name) => invoice?.fields.get(name))
  const [value, refund, due] = members.map(centsOf)
  if (value === undefined || refund === undefined || due === undefined) return []
  const found: Array<Found> = []
  if (differs(value + refund, due, 1)) {
    const message = `the amount due is ${formatted(due)}, and P_11_1 and P_11_2 add up to ${formatted(value + refund)}`
    found.push(about(members[2]!, "total_differs", message, vatAct("art. 116 ust. 2")))
  }
  const parts = [
    [members[0]!, value, "P_8"],
    [members[1]!, refund, "P_10"]
  ] as const
  for (const [member, stated, name] of parts) {
    const ofLines = sum(lines.map((line) => signed(line, name)))
    const isWhole = lines.length > 0 && lines.every(({ fields }) => fields.has(name))
    if (!isWhole || !differs(ofLines, stated, lines.length)) continue
    const message = `the lines (${name}) add up to ${formatted(ofLines)}, and this is ${formatted(stated)}`
    found.push(about(member, "lines_differ", message, vatAct("art. 116 ust. 2")))
  }
  return found
}

// A correction has the numbers of the lines that it corrects, those before and after it alike.
const lineNumbers: Rule = (content) => {
  const seen = new Set<string>()
  const found: Array<Found> = []
  for (const { fields } of content.lines) {
    const number = fields.get("NrWierszaFa")
    if (number === undefined) continue
    const key = `${number.text} ${fields.has("StanPrzed")}`
    if (seen.has(key))
      found.push(
        about(number, "line_number_repeated", `the line number ${quoted(number.text)} is used twice`, brochure)
      )
    seen.add(key)
  }
  if (found.length > 0 || isCorrection(content)) return found
  const gap = content.lines.findIndex(({ fields }, position) => {
    const number = fields.get("NrWierszaFa")?.text
    return number !== undefined && Number(number) !== position + 1
  })
  const number = content.lines[gap]?.fields.get("NrWierszaFa")
  if (number === undefined) return []
  const message = `the line number is ${quoted(number.text)} where ${gap + 1} is expected: the lines are numbered from 1 in a row`
  return [about(number, "line_number_missing", message, brochure)]
}

const roles = [
  { member: "JST", role: "8", who: "a subordinate unit of a local government" },
  { member: "GV", role: "10", who: "a member of a VAT group" }
] as const

const recipients: Rule = ({ buyer, thirdParties }) =>
  roles.flatMap(({ member, role, who }) => {
    const given = buyer?.fields.get(member)
    const isNamed = thirdParties.some((party) => textOf(party, "Rola") === role)
    if (given?.text !== "1" || isNamed) return []
    const message = `the invoice is for ${who}, which is not named; add a Podmiot3 with the Rola ${role}`
    return [about(given, "recipient_missing", message, brochure)]
  })

const buyerNip: Rule = ({ buyer }) => {
  const given = buyer?.fields.get("NrVatUE") ?? buyer?.fields.get("NrID")
  if (given === undefined) return []
  const digits = given.text.replace(/^PL/i, "").replaceAll(/[\s-]/g, "")
  const country = textOf(buyer, "KodUE") ?? textOf(buyer, "KodKraju") ?? "PL"
  if (country !== "PL" || !/^\d{10}$/.test(digits) || !Nip.isValid(digits)) return []
  const message = `${quoted(given.text)} is a Polish NIP; write it in the member NIP, or the buyer does not find the invoice in KSeF`
  return [about(given, "buyer_nip_misplaced", message, brochure)]
}

// The buyer issues the invoice, and is no third party beside.
const selfBilling: Rule = ({ invoice, thirdParties }) => {
  if (textOf(invoice, "P_17") !== "1") return []
  const issuer = thirdParties.find((party) => textOf(party, "Rola") === "5")
  const role = issuer?.fields.get("Rola")
  if (role === undefined) return []
  return [
    about(
      role,
      "issuer_repeated",
      "in self-billing (P_17) the issuer is the buyer in Podmiot2, and no Podmiot3",
      brochure
    )
  ]
}

/** From here on, every seller issues invoices in KSeF. */
const obligatoryFrom = "2026-04-01"

const corrected: Rule = (content) => {
  const { correctedInvoices, invoice } = content
  const kind = invoice?.fields.get("RodzajFaktury")
  if (kind !== undefined && isCorrection(content) && correctedInvoices.length === 0) {
    const message = "the correction does not say which invoice it corrects; add DaneFaKorygowanej"
    return [about(kind, "corrected_invoice_missing", message, vatAct("art. 106j ust. 2 pkt 2a"))]
  }
  return correctedInvoices.flatMap((each) => {
    const outside = each.fields.get("NrKSeFN")
    const date = textOf(each, "DataWystFaKorygowanej") ?? ""
    if (outside === undefined || date < obligatoryFrom) return []
    const message = `the corrected invoice of ${date} is marked as issued outside KSeF; write its number in NrKSeFFaKorygowanej if it has one`
    return [about(outside, "corrected_number_missing", message, vatAct("art. 106j ust. 2 pkt 2a"))]
  })
}

const exchangeRate: Rule = ({ invoice, lines }) => {
  const currency = invoice?.fields.get("KodWaluty")
  const hasTax = taxSums.some((name) => Math.abs(centsOf(invoice?.fields.get(name)) ?? 0) > 0)
  if (currency === undefined || currency.text === "PLN" || !hasTax) return []
  const hasRate = invoice!.fields.has("KursWalutyZ") || lines.some(({ fields }) => fields.has("KursWaluty"))
  if (hasRate) return []
  const message = `the invoice is in ${quoted(currency.text)} and has no exchange rate; write KursWaluty in its lines, and the tax in zloty in P_14_1W and the like`
  return [about(currency, "exchange_rate_missing", message, vatAct("art. 106e ust. 11"))]
}

// A date in the future is refused.
const issueDate: Rule = ({ invoice }, today) => {
  const given = invoice?.fields.get("P_1") ?? invoice?.fields.get("P_4B")
  if (given === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(given.text) || given.text >= today) return []
  const message = `the date of issue ${given.text} is before today in Poland, ${today}: KSeF marks an invoice that it receives later as issued offline`
  return [about(given, "issue_date_past", message, "automatyczne-okreslanie-trybu-offline.md")]
}

const rules: ReadonlyArray<Rule> = [
  issueDate,
  total,
  linesByRate,
  taxByRate,
  grossLines,
  farmer,
  lineNumbers,
  recipients,
  buyerNip,
  selfBilling,
  corrected,
  exchangeRate,
  accountNumbers
]
