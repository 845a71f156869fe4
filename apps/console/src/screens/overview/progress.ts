/**
 * How far the owner is: read from the newest records of each list, nothing is stored.
 */
import { listInvoices, listOrganizationDeliveries } from "@govoice/client"
import { queryOptions } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { everyBy, pollMs } from "../../api/polling.ts"
import { endpointsQuery, keysQuery } from "../../api/queries.ts"

/** The newest record of each open step, or null where it has none. `null` in place of all of them after the last step: a webhook was delivered. */
export const progressQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "progress"],
    queryFn: async ({ client, signal }) => {
      const one = { limit: 1, signal }
      const delivered = await listOrganizationDeliveries(connection, org, { ...one, status: "succeeded" }).page()
      if (delivered.data.length > 0) return null
      // The overview shows keys and endpoints, too: it and this ask for them once.
      const fresh = { staleTime: pollMs.awaited / 2 }
      const [keys, endpoints, invoices, newest] = await Promise.all([
        client.fetchQuery({ ...keysQuery(org), ...fresh }),
        client.fetchQuery({ ...endpointsQuery(org), ...fresh }),
        listInvoices(connection, org, one).page(),
        listOrganizationDeliveries(connection, org, one).page()
      ])
      return {
        key: keys.find(({ mode }) => mode === "test") ?? null,
        endpoint: endpoints[0] ?? null,
        invoice: invoices.data[0] ?? null,
        newest: newest.data[0] ?? null
      }
    },
    refetchInterval: everyBy<object | null>((data) => (data === null ? false : pollMs.awaited))
  })
