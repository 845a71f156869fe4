/**
 * The checks of KSeF on a document by itself: size, encoding, XML rules, schema, dates, NIPs. Whether it may be sent by who
 * sent it, and whether it was sent before, is judged elsewhere.
 */
import { DiscouragedCharacters, InternalId, Nip, XmlValues } from "@govoice/ksef/format"
import type { FormName, Header, Verdict } from "../state/records.ts"
import { isFault, type Xml, type XmlDocument } from "./Xml.ts"

/** The content of a document. */
export interface DocumentFacts {
  readonly header: Header
  readonly hasAttachment: boolean
  /** The VAT number of the buyer with its country, or an empty text. */
  readonly buyerVatUe: string
}

/** The outcome: what the document says, or the verdict that ends it. */
export type Judgment =
  | { readonly ok: true; readonly facts: DocumentFacts }
  | { readonly ok: false; readonly verdict: Verdict }

/** The context that a document is judged in. */
export interface Rules {
  readonly form: FormName
  /** In bytes. */
  readonly maxSize: number
  readonly maxSizeWithAttachment: number
  /** The Polish day on which it was received, `YYYY-MM-DD`. */
  readonly receivedOn: string
  readonly checksNips: boolean
}

interface Form {
  readonly namespace: string
  readonly kind: string
  readonly number: string
  readonly issueDate: string
}

const forms: Readonly<Record<FormName, Form>> = {
  "FA (3)": {
    namespace: "http://crd.gov.pl/wzor/2025/06/25/13775/",
    kind: "/f:Faktura/f:Fa/f:RodzajFaktury",
    number: "/f:Faktura/f:Fa/f:P_2",
    issueDate: "/f:Faktura/f:Fa/f:P_1"
  },
  "FA_RR (1)": {
    namespace: "http://crd.gov.pl/wzor/2026/03/06/14189/",
    kind: "/f:Faktura/f:FakturaRR/f:RodzajFaktury",
    number: "/f:Faktura/f:FakturaRR/f:P_4C",
    issueDate: "/f:Faktura/f:FakturaRR/f:P_4B"
  }
}

const nipPaths = ["Podmiot1", "Podmiot2", "Podmiot3", "PodmiotUpowazniony"].map(
  (party) => `/f:Faktura/f:${party}/f:DaneIdentyfikacyjne/f:NIP`
)

const invalid = (...details: ReadonlyArray<string>): Judgment => ({ ok: false, verdict: { code: 450, details } })

const declaredEncoding = (text: string): string | undefined =>
  /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)["']/.exec(text.slice(0, 200))?.[1]

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

// The checks of the text before it is parsed.
const textFault = (bytes: Uint8Array): string | undefined => {
  const text = decode(bytes)
  if (text === undefined) return "Dokument nie jest zapisany w kodowaniu UTF-8."
  const encoding = declaredEncoding(text)
  if (encoding !== undefined && encoding.toLowerCase() !== "utf-8") {
    return `Dokument deklaruje kodowanie ${encoding} zamiast UTF-8.`
  }
  if (DiscouragedCharacters.search(text) !== -1) return "Dokument zawiera niezalecane znaki Unicode."
  return undefined
}

const judgeParsed = (xml: Xml, document: XmlDocument, rules: Rules, size: number): Judgment => {
  const form = forms[rules.form]
  const namespaces = { f: form.namespace }
  if (document.dtd !== null) return invalid("Nieprawidłowy XML", "Dokument zawiera deklarację DOCTYPE.")
  if (xml.count(document, "//processing-instruction()") > 0) {
    return invalid("Nieprawidłowy XML", "Dokument zawiera instrukcje przetwarzania XML.")
  }
  const faults = xml.validate(rules.form, document)
  if (faults.length > 0) return invalid(...faults.map(({ line, message }) => `${message} (wiersz ${line})`))
  // Tokens of the schema: white space around and between words says nothing.
  const read = (path: string) => {
    const text = xml.text(document, path, namespaces)
    return text === undefined ? undefined : XmlValues.collapsed(text)
  }
  const hasAttachment = xml.count(document, "/f:Faktura/f:Zalacznik", namespaces) > 0
  const maxSize = hasAttachment ? rules.maxSizeWithAttachment : rules.maxSize
  if (size > maxSize) return tooLarge(maxSize)
  const header: Header = {
    sellerNip: read(nipPaths[0]!) ?? "",
    buyerNip: read(nipPaths[1]!) ?? null,
    kind: read(form.kind) ?? "",
    number: read(form.number) ?? "",
    issueDate: (read(form.issueDate) ?? "").slice(0, 10)
  }
  if (header.issueDate > rules.receivedOn) {
    return invalid(`Data wystawienia faktury ${header.issueDate} jest późniejsza niż data przyjęcia do KSeF.`)
  }
  if (rules.checksNips) {
    const nips = xml.elements(document, nipPaths.join(" | "), namespaces).map(({ content }) => content)
    const wrong = nips.find((nip) => !Nip.isValid(nip))
    if (wrong !== undefined) return invalid(`Nieprawidłowy numer NIP: ${wrong}.`)
    const unit = xml
      .elements(document, "/f:Faktura/f:Podmiot3/f:DaneIdentyfikacyjne/f:IDWew", namespaces)
      .map(({ content }) => XmlValues.collapsed(content))
      .find((id) => !InternalId.isValid(id))
    // In the words of KSeF.
    if (unit !== undefined) return invalid(`Identyfikator wewnętrzny podmiotu trzeciego: '${unit}' jest nieprawidłowy.`)
  }
  const buyer = "/f:Faktura/f:Podmiot2/f:DaneIdentyfikacyjne"
  const buyerVatUe = `${read(`${buyer}/f:KodUE`) ?? ""}${read(`${buyer}/f:NrVatUE`) ?? ""}`
  return { ok: true, facts: { header, hasAttachment, buyerVatUe } }
}

const tooLarge = (maxSize: number): Judgment => ({
  ok: false,
  verdict: { code: 430, details: [`Rozmiar faktury przekracza dopuszczalny limit ${maxSize} bajtów.`] }
})

const byteOrderMark = Buffer.from("\uFEFF")

const marked: Judgment = {
  ok: false,
  verdict: { code: 430, details: ["Plik zaczyna się znacznikiem kolejności bajtów (BOM). Zapisz go w UTF-8 bez BOM."] }
}

/** Judges a document. */
export const judgeDocument = (xml: Xml, bytes: Uint8Array, rules: Rules): Judgment => {
  if (bytes.length > Math.max(rules.maxSize, rules.maxSizeWithAttachment)) return tooLarge(rules.maxSizeWithAttachment)
  if (byteOrderMark.equals(bytes.subarray(0, byteOrderMark.length))) return marked
  const fault = textFault(bytes)
  if (fault !== undefined) return invalid("Nieprawidłowy XML", fault)
  const judgment = xml.with(bytes, (document) => judgeParsed(xml, document, rules, bytes.length))
  return isFault(judgment) ? invalid("Nieprawidłowy XML", `${judgment.message} (wiersz ${judgment.line})`) : judgment
}
