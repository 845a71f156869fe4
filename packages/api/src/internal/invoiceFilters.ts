/** The query parameters that find the invoices a person names: by number, official number, buyer or seller. */
import * as Schema from "effect/Schema"
import * as Fields from "../Fields.ts"

const exact = (max: number, description: string) => Schema.optionalKey(Fields.text(1, max).annotate({ description }))

/** The query parameters. */
export const invoiceFilters = {
  number: exact(
    1000,
    "Only invoices to which the seller gave this number (`P_2`). White space is collapsed, as in the document."
  ),
  official_number: exact(100, "Only the invoice to which the national system gave this number."),
  buyer_tax_id: exact(100, "Only invoices whose buyer has this tax number, as `document.buyer.tax_id` shows it."),
  seller_tax_id: exact(100, "Only invoices whose seller has this tax number (NIP).")
}
