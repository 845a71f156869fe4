/**
 * The receipt (UPO) of KSeF in its structure v4-3, of one invoice or of a session.
 *
 * @since 0.1.0
 */
import * as XmlValues from "./XmlValues.ts"

/**
 * The facts that a receipt confirms of one invoice.
 *
 * **Details**
 *
 * - `documentHash`: SHA-256 of the submitted bytes, in Base64.
 * - `mode`: `Online` or `Offline`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConfirmedInvoice {
  readonly sellerNip: string
  readonly ksefNumber: string
  readonly invoiceNumber: string
  readonly issueDate: string
  readonly sentAt: string
  readonly numberedAt: string
  readonly documentHash: string
  readonly mode: string
}

/**
 * A receipt. Every member is the text of an element.
 *
 * **Details**
 *
 * - `receivingEntity`: names the environment, too.
 * - `context`: the taxpayer by one of the identifiers that KSeF knows, such as `Nip`.
 * - `tokenReference`, `loginDocumentHash`: how the sender logged in, by a token or by a signed document.
 * - `logicalStructure`: the file name of the schema that the invoice follows.
 * - `isSigned`: whether there is a signature. It is not verified.
 *
 * @category models
 * @since 0.1.0
 */
export interface Upo {
  readonly receivingEntity: string
  readonly sessionReference: string
  readonly context: { readonly type: string; readonly value: string }
  readonly tokenReference: string | undefined
  readonly loginDocumentHash: string | undefined
  readonly logicalStructure: string
  readonly formCode: string
  readonly invoices: ReadonlyArray<ConfirmedInvoice>
  readonly isSigned: boolean
}

/**
 * The namespace of the structure.
 *
 * @category constants
 * @since 0.1.0
 */
export const namespace = "http://upo.schematy.mf.gov.pl/KSeF/v4-3"

/**
 * Reads a receipt, or returns `undefined` where the text is none: not well-formed, another root, or a member missing.
 *
 * @category parsing
 * @since 0.1.0
 */
export const read = (xml: string): Upo | undefined => {
  const root = XmlValues.read(xml)
  if (root?.name !== rootName || root.namespace !== namespace) return undefined
  const [context] = XmlValues.all(root, "Uwierzytelnienie", "IdKontekstu")[0]?.children ?? []
  const invoices = XmlValues.all(root, "Dokument").map((invoice) => values(invoice, invoiceElements))
  const upo = values(root, elements)
  if (context === undefined || upo === undefined || invoices.length === 0) return undefined
  if (!invoices.every((invoice) => invoice !== undefined)) return undefined
  return {
    ...upo,
    context: { type: context.name, value: XmlValues.collapsed(context.text) },
    tokenReference: optional(root, "NumerReferencyjnyTokenaKSeF"),
    loginDocumentHash: optional(root, "SkrotDokumentuUwierzytelniajacego"),
    invoices,
    isSigned: XmlValues.all(root, "Signature").length > 0
  }
}

/**
 * Writes a receipt without a signature. The order of the elements is that of the schema.
 *
 * @category formatting
 * @since 0.1.0
 */
export const write = (upo: Omit<Upo, "isSigned">): string =>
  XmlValues.write(rootName, namespace, [
    [elements.receivingEntity, upo.receivingEntity],
    [elements.sessionReference, upo.sessionReference],
    [
      "Uwierzytelnienie",
      [
        ["IdKontekstu", [[upo.context.type, upo.context.value]]],
        ["NumerReferencyjnyTokenaKSeF", upo.tokenReference],
        ["SkrotDokumentuUwierzytelniajacego", upo.loginDocumentHash]
      ]
    ],
    [elements.logicalStructure, upo.logicalStructure],
    [elements.formCode, upo.formCode],
    ...upo.invoices.map(
      (invoice) =>
        ["Dokument", entries(invoiceElements).map(([member, name]) => [name, invoice[member]] as const)] as const
    )
  ])

const rootName = "Potwierdzenie"

const elements = {
  receivingEntity: "NazwaPodmiotuPrzyjmujacego",
  sessionReference: "NumerReferencyjnySesji",
  logicalStructure: "NazwaStrukturyLogicznej",
  formCode: "KodFormularza"
} as const

// In the order of the schema.
const invoiceElements = {
  sellerNip: "NipSprzedawcy",
  ksefNumber: "NumerKSeFDokumentu",
  invoiceNumber: "NumerFaktury",
  issueDate: "DataWystawieniaFaktury",
  sentAt: "DataPrzeslaniaDokumentu",
  numberedAt: "DataNadaniaNumeruKSeF",
  documentHash: "SkrotDokumentu",
  mode: "TrybWysylki"
} as const

const entries = <K extends string>(table: Readonly<Record<K, string>>) => Object.entries(table) as Array<[K, string]>

const values = <K extends string>(
  from: XmlValues.Values,
  table: Readonly<Record<K, string>>
): Record<K, string> | undefined => {
  const found = entries(table).map(([member, name]) => [member, XmlValues.text(from, name)] as const)
  if (found.some(([, text]) => text === undefined)) return undefined
  return Object.fromEntries(found.map(([member, text]) => [member, XmlValues.collapsed(text!)])) as Record<K, string>
}

const optional = (root: XmlValues.Values, name: string): string | undefined => {
  const text = XmlValues.text(root, "Uwierzytelnienie", name)
  return text === undefined ? undefined : XmlValues.collapsed(text)
}
