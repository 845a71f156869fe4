import { useQuery } from "@tanstack/react-query"
import { Link } from "wouter"
import { invoiceOfEventQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"

/** The link to the invoice of an event. The record of a delivery does not name it. */
export const InvoiceOfEvent = ({ event, org }: { readonly org: string; readonly event: string }) => {
  const { data, error, refetch } = useQuery(invoiceOfEventQuery(org, event))
  if (error !== null) return <ProblemNotice error={error} onRetry={() => void refetch()} />
  return data ? <Link to={paths.invoice(org, data.id)}>{en.delivery.openInvoice}</Link> : null
}
