import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { invoiceOfEventQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { paths } from "../../url/paths.ts"

/** The link to the invoice of an event. The record of a delivery does not name it. */
export const InvoiceOfEvent = ({ event, org }: { readonly org: string; readonly event: string }) => {
  const { data } = useQuery(invoiceOfEventQuery(org, event))
  return data ? <Link to={paths.invoice(org, data.id)}>{en.delivery.openInvoice}</Link> : null
}
