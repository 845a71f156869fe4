/**
 * How far the owner is: read from the first record of each list, nothing is stored.
 */
import { listApiKeys, listInvoices, listOrganizationDeliveries, listWebhookEndpoints } from "@govoice/client"
import { queryOptions } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { everyBy, pollMs } from "../../api/live.ts"

/** The state of the steps. A step without a record is open. */
export const progressQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "progress"],
    queryFn: async ({ signal }) => {
      const one = { limit: 1, signal }
      const [keys, endpoints, invoices, delivered, newest] = await Promise.all([
        listApiKeys(connection, org, { limit: 100, signal }).page(),
        listWebhookEndpoints(connection, org, one).page(),
        listInvoices(connection, org, one).page(),
        listOrganizationDeliveries(connection, org, { ...one, status: "succeeded" }).page(),
        listOrganizationDeliveries(connection, org, one).page()
      ])
      return {
        key: keys.data.find(({ mode }) => mode === "test") ?? null,
        endpoint: endpoints.data[0] ?? null,
        invoice: invoices.data[0] ?? null,
        delivered: delivered.data[0] ?? null,
        newest: newest.data[0] ?? null
      }
    },
    refetchInterval: everyBy<{ readonly delivered: unknown }>((data) => (data?.delivered ? false : pollMs.awaited))
  })
