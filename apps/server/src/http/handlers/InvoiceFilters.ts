/** The filters that all lists of invoices have: what a person knows of an invoice, and its metadata. */
import type { Metadata } from "@govoice/core"
import { XmlValues } from "@govoice/ksef/format"
import type { InvoiceFilter } from "../../invoices/Invoices.ts"

interface Query {
  readonly number?: string
  readonly official_number?: string
  readonly buyer_tax_id?: string
  readonly seller_tax_id?: string
  readonly metadata?: Metadata.Metadata
}

// As the document is read: `FV  1` is the number `FV 1`.
const token = (text: string | undefined): string | undefined => text && XmlValues.collapsed(text)

/** Reads the filters of a request. */
export const read = (query: Query): InvoiceFilter => ({
  number: token(query.number),
  officialNumber: token(query.official_number),
  buyerTaxId: token(query.buyer_tax_id),
  sellerTaxId: token(query.seller_tax_id),
  metadata: query.metadata
})

/** Returns what they contribute to the name of a list. */
export const nameOf = (query: Query): ReadonlyArray<string | undefined> => {
  const { buyerTaxId, metadata, number, officialNumber, sellerTaxId } = read(query)
  return [number, officialNumber, buyerTaxId, sellerTaxId, metadata && JSON.stringify(metadata)]
}
