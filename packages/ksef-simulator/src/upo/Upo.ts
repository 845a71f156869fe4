/**
 * The official receipt (UPO) in its structure v4-3, for one document or a page of a session.
 *
 * It says that it is simulated: in a comment, and in the name of the certificate that signs it.
 */
import { type ContextIdentifier, PolishTime } from "@govoice/ksef/format"

/** A document that a UPO confirms. */
export interface UpoDocument {
  readonly sellerNip: string
  readonly ksefNumber: string
  readonly invoiceNumber: string
  readonly issueDate: string
  /** In milliseconds. */
  readonly sentAt: number
  /** In milliseconds. */
  readonly numberedAt: number
  readonly documentHash: string
  readonly mode: "Online" | "Offline"
}

/** The facts that a UPO confirms. */
export interface UpoContent {
  readonly receivingEntity: string
  readonly sessionReference: string
  readonly context: ContextIdentifier.ContextIdentifier
  /** How the sender logged in: the reference of its token, or the hash of the document that it signed. */
  readonly authentication: { readonly tokenReference: string } | { readonly documentHash: string }
  /** The page, where it is the UPO of a session. */
  readonly page?: {
    readonly number: number
    readonly pages: number
    readonly from: number
    readonly to: number
    readonly documents: number
  }
  readonly logicalStructure: string
  readonly formCode: string
  readonly documents: ReadonlyArray<UpoDocument>
}

/** The namespace of the structure. */
export const upoNamespace = "http://upo.schematy.mf.gov.pl/KSeF/v4-3"

/** The suffix of the Ministry's name in each environment. */
export const receivingEntities = {
  test: "Ministerstwo Finansów - środowisko testowe (TE)",
  demo: "Ministerstwo Finansów - środowisko przedprodukcyjne (TR)",
  prod: "Ministerstwo Finansów"
} as const

/** The comment by which a simulated UPO is known. */
export const mark =
  "Simulated by @govoice/ksef-simulator. Not a receipt of the Ministry of Finance. Without legal effect."

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;" }

const escaped = (text: string): string => text.replaceAll(/[&<>\r]/g, (character) => references[character]!)

const element = (name: string, text: string | number): string => `<${name}>${escaped(String(text))}</${name}>`

const documentXml = (document: UpoDocument): string =>
  [
    "<Dokument>",
    element("NipSprzedawcy", document.sellerNip),
    element("NumerKSeFDokumentu", document.ksefNumber),
    element("NumerFaktury", document.invoiceNumber),
    element("DataWystawieniaFaktury", document.issueDate),
    element("DataPrzeslaniaDokumentu", PolishTime.timestamp(document.sentAt)),
    element("DataNadaniaNumeruKSeF", PolishTime.timestamp(document.numberedAt)),
    element("SkrotDokumentu", document.documentHash),
    element("TrybWysylki", document.mode),
    "</Dokument>"
  ].join("")

// The names of the schema.
const contextElements = { Nip: "Nip", InternalId: "IdWewnetrzny", NipVatUe: "IdZlozonyVatUE" } as const

const pageXml = ({ documents, from, number, pages, to }: NonNullable<UpoContent["page"]>): string =>
  [
    "<OpisPotwierdzenia>",
    element("Strona", number),
    element("LiczbaStron", pages),
    element("ZakresDokumentowOd", from),
    element("ZakresDokumentowDo", to),
    element("CalkowitaLiczbaDokumentow", documents),
    "</OpisPotwierdzenia>"
  ].join("")

/**
 * Writes the root element of a UPO, in canonical form but for the comment, which a canonical form leaves out. `signature` is
 * put before its end.
 */
export const renderUpo = (content: UpoContent, signature = ""): string =>
  [
    `<Potwierdzenie xmlns="${upoNamespace}">`,
    signature === "" ? "" : `<!--${mark}-->`,
    element("NazwaPodmiotuPrzyjmujacego", content.receivingEntity),
    element("NumerReferencyjnySesji", content.sessionReference),
    "<Uwierzytelnienie><IdKontekstu>",
    element(contextElements[content.context.type], content.context.value),
    "</IdKontekstu>",
    "tokenReference" in content.authentication
      ? element("NumerReferencyjnyTokenaKSeF", content.authentication.tokenReference)
      : element("SkrotDokumentuUwierzytelniajacego", content.authentication.documentHash),
    "</Uwierzytelnienie>",
    content.page === undefined ? "" : pageXml(content.page),
    element("NazwaStrukturyLogicznej", content.logicalStructure),
    element("KodFormularza", content.formCode),
    ...content.documents.map(documentXml),
    signature,
    "</Potwierdzenie>"
  ].join("")
