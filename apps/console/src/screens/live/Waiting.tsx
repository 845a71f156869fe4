import { listInvoices } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { every, pollMs } from "../../api/live.ts"
import { en } from "../../text/en.ts"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { paths } from "../../url/paths.ts"
import { invoiceSearch } from "../../url/searches.ts"
import { Sum } from "../overview/Sum.tsx"

const statuses = ["queued", "submitting", "retrying", "submitted"] as const

/** The number of live invoices in each status that is not final. Counts end at a hundred. */
const waitingQuery = (org: string) => ({
  queryKey: ["organizations", org, "waiting"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const pages = await Promise.all(
      statuses.map((status) => listInvoices(connection, org, { mode: "live", status, limit: 100, signal }).page())
    )
    return pages.map(({ data, hasMore }) => (hasMore ? "100+" : String(data.length)))
  },
  refetchInterval: every(pollMs.picture)
})

/** Live invoices without a verdict: those that wait here, and those that the national system has. */
export const Waiting = ({ org }: { readonly org: string }) => {
  const waiting = useQuery(waitingQuery(org))
  return (
    <Panel title={en.live.waiting}>
      <p className="muted">{en.live.waitingMeaning}</p>
      <Loaded query={waiting}>
        {(counts) => (
          <Sum
            entries={statuses.map((status, index) => [
              en.live.waitingIn[status],
              counts[index],
              `${paths.invoices(org)}${invoiceSearch.write({ ...invoiceSearch.read("").value, status, mode: "live" })}`,
              status === "retrying" && counts[index] !== "0" ? "warn" : undefined
            ])}
          />
        )}
      </Loaded>
      <p className="small muted">{en.live.limitsMeaning}</p>
    </Panel>
  )
}
