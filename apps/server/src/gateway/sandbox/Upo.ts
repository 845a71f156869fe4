/**
 * The receipt (UPO) of the national system in its structure v4-3, for one invoice.
 *
 * What is written here is a sandbox document: it says so where the system names itself, as the national test
 * environments do, and it carries no signature.
 *
 * @since 0.1.0
 */

/**
 * What a receipt confirms. Every member is the text of one element.
 *
 * @category models
 * @since 0.1.0
 */
export interface Upo {
  readonly sessionReference: string
  readonly contextNip: string
  readonly tokenReference: string
  /** The file name of the schema that the invoice follows. */
  readonly logicalStructure: string
  readonly formCode: string
  readonly sellerNip: string
  readonly officialNumber: string
  readonly invoiceNumber: string
  readonly issueDate: string
  readonly sentAt: string
  readonly numberedAt: string
  /** SHA-256 of the submitted bytes, in base64. */
  readonly documentHash: string
  readonly mode: "Online" | "Offline"
}

/**
 * Who says that the invoice arrived. The national schema allows the plain name only.
 *
 * @category constants
 * @since 0.1.0
 */
export const receivingEntity = "Ministerstwo Finansów - sandbox Govoice (dokument testowy, bez mocy prawnej)"

/**
 * The namespace of the structure.
 *
 * @category constants
 * @since 0.1.0
 */
export const namespace = "http://upo.schematy.mf.gov.pl/KSeF/v4-3"

/**
 * Writes a receipt. The order of the elements is that of the schema.
 *
 * @category formatting
 * @since 0.1.0
 */
export const render = (upo: Upo): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Potwierdzenie xmlns="${namespace}">
  <NazwaPodmiotuPrzyjmujacego>${escaped(receivingEntity)}</NazwaPodmiotuPrzyjmujacego>
  <NumerReferencyjnySesji>${escaped(upo.sessionReference)}</NumerReferencyjnySesji>
  <Uwierzytelnienie>
    <IdKontekstu>
      <Nip>${escaped(upo.contextNip)}</Nip>
    </IdKontekstu>
    <NumerReferencyjnyTokenaKSeF>${escaped(upo.tokenReference)}</NumerReferencyjnyTokenaKSeF>
  </Uwierzytelnienie>
  <NazwaStrukturyLogicznej>${escaped(upo.logicalStructure)}</NazwaStrukturyLogicznej>
  <KodFormularza>${escaped(upo.formCode)}</KodFormularza>
  <Dokument>
    <NipSprzedawcy>${escaped(upo.sellerNip)}</NipSprzedawcy>
    <NumerKSeFDokumentu>${escaped(upo.officialNumber)}</NumerKSeFDokumentu>
    <NumerFaktury>${escaped(upo.invoiceNumber)}</NumerFaktury>
    <DataWystawieniaFaktury>${escaped(upo.issueDate)}</DataWystawieniaFaktury>
    <DataPrzeslaniaDokumentu>${escaped(upo.sentAt)}</DataPrzeslaniaDokumentu>
    <DataNadaniaNumeruKSeF>${escaped(upo.numberedAt)}</DataNadaniaNumeruKSeF>
    <SkrotDokumentu>${escaped(upo.documentHash)}</SkrotDokumentu>
    <TrybWysylki>${upo.mode}</TrybWysylki>
  </Dokument>
</Potwierdzenie>
`

const references: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" }

const escaped = (text: string): string => text.replace(/[&<>\r]/g, (character) => references[character] ?? character)
