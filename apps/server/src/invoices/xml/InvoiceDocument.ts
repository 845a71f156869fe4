/**
 * The invoice document: checks that it is XML within its limits, and reads the fields that the service needs.
 *
 * The document is stored and passed on byte for byte. This module applies no schema;
 * `checks/DocumentChecks` does.
 */
import { type Invoice, InvoiceXml, Text } from "@govoice/core"
import { InvoiceHeader } from "@govoice/ksef/format"
import { StrictXml } from "@govoice/ksef/xml"

/** A document that was read. */
export interface ReadDocument {
  /** A sentence for the sender that names line and column where there are any; `undefined` without a fault. */
  readonly fault: string | undefined
  /** The header, up to the fault if there is one. */
  readonly header: InvoiceHeader.InvoiceHeader
}

const limits: StrictXml.Limits = { maxElements: InvoiceXml.maxElements, maxAttributes: InvoiceXml.maxAttributes }

/** Reads a document that has passed `InvoiceXml.fault`, in one pass. */
export const read = (xml: string): ReadDocument => {
  const visitor = InvoiceHeader.makeVisitor()
  const fault = StrictXml.read(xml, visitor, limits)
  const header = visitor.header()
  if (fault !== undefined) {
    return { fault: `invoice_xml ${fault.message} (line ${fault.line}, column ${fault.column}).`, header }
  }
  const isTooLarge = !header.hasAttachment && InvoiceXml.isLarger(xml, InvoiceXml.maxBytes)
  return { fault: isTooLarge ? InvoiceXml.tooLarge(InvoiceXml.maxBytes) : undefined, header }
}

/**
 * The fields that are stored beside a document, so that it is parsed once. A field that is absent or malformed is `null`;
 * texts are truncated to the length that the national schemas allow.
 */
export interface Summary {
  /** The SHA-256 of the document in UTF-8. */
  readonly sha256: Uint8Array
  /** The tax number of the seller: ten digits. */
  readonly sellerNip: string | null
  /** The date of issue: `YYYY-MM-DD`. */
  readonly issueDate: string | null
  /** The number that the seller gave the invoice: at most 256 characters. */
  readonly invoiceNumber: string | null
  /** The form: at most 50 characters. */
  readonly formCode: string | null
  /** The version of the form's schema: at most 50 characters. */
  readonly schemaVersion: string | null
  readonly hasAttachment: boolean
  /** What the record of the invoice says of the document. */
  readonly document: Invoice.Document | null
}

/** Makes the summary of a document from its hash and its header. */
export const summarize = (sha256: Uint8Array, header: InvoiceHeader.InvoiceHeader): Summary => {
  const issueDate = header.issueDate !== undefined && isDate(header.issueDate) ? header.issueDate : null
  const invoiceNumber = cut(header.invoiceNumber, 256)
  const formCode = cut(header.formCode, 50)
  return {
    sha256,
    sellerNip: header.sellerNip !== undefined && /^[0-9]{10}$/.test(header.sellerNip) ? header.sellerNip : null,
    issueDate,
    invoiceNumber,
    formCode,
    schemaVersion: cut(header.schemaVersion, 50),
    hasAttachment: header.hasAttachment,
    document:
      formCode === null
        ? null
        : {
            form: formCode,
            kind: orNull(header.kind, 20),
            number: invoiceNumber,
            issue_date: issueDate,
            currency: orNull(header.currency, 20),
            total: orNull(header.total, 30),
            seller: party(header.sellerNip, header.sellerName),
            buyer: party(header.buyerTaxId, header.buyerName)
          }
  }
}

const party = (taxId: string | undefined, name: string | undefined): Invoice.Document["seller"] =>
  taxId === undefined && name === undefined ? null : { tax_id: orNull(taxId, 60), name: cut(name, 512) }

const isDate = (text: string): boolean =>
  // Days after it have such a year too.
  /^[0-8][0-9]{3}-[0-9]{2}-[0-9]{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text)

// The cut can leave a space at the end.
const cut = (text: string | undefined, maxLength: number): string | null =>
  text === undefined ? null : Text.truncate(text, maxLength).replace(/ $/, "")

// A part of an amount or of an identifier would be another one.
const orNull = (text: string | undefined, maxLength: number): string | null =>
  text === undefined || text.length > maxLength ? null : text
