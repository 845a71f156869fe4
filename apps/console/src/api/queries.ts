/**
 * The queries of the screens. A key of the cache is the path of its resource.
 */
import {
  getAccount,
  getDelivery,
  getDeliveryStats,
  getGatewayCredential,
  getOfflineCertificate,
  getLiveStatus,
  type GatewayCredential,
  getOrganizationInvoice,
  getOverview,
  getWebhookEndpoint,
  type Invoice,
  type List,
  listApiKeys,
  listDeliveries,
  listInvoices,
  listOrganizationDeliveries,
  listOrganizations,
  listWebhookEndpoints,
  type Page,
  type WebhookDelivery
} from "@govoice/client"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { metadataOf } from "../url/invoiceNames.ts"
import type { DeliverySearch, InvoiceSearch } from "../url/searches.ts"
import { loadConfig } from "./config.ts"
import { connection } from "./connection.ts"
import { every, everyBy, pollMs } from "./polling.ts"
import { pageSize } from "./steadyRows.ts"

const finalStatuses = ["accepted", "rejected", "failed", "succeeded", "endpoint_disabled"]

/** Returns whether a record still changes. An accepted invoice waits for its receipt. */
export const isUnsettled = (record: Invoice | WebhookDelivery): boolean =>
  !finalStatuses.includes(record.status) ||
  (record.object === "invoice" && record.status === "accepted" && !record.upoAvailable)

/** Polls a record until it is settled. */
export const everyUnsettled = (ms: number) =>
  everyBy<Invoice | WebhookDelivery>((data) => data !== undefined && isUnsettled(data) && ms)

const everything = async <A>(list: List<A>): Promise<ReadonlyArray<A>> => (await list.page()).data

export const configQuery = queryOptions({ queryKey: ["config"], queryFn: loadConfig, staleTime: Infinity })

export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => getAccount(connection, { signal }),
  staleTime: Infinity
})

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }) => everything(listOrganizations(connection, { signal, limit: 100 })),
  staleTime: 60_000
})

export const endpointsQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "endpoints"],
    queryFn: ({ signal }) => everything(listWebhookEndpoints(connection, org, { signal, limit: 100 })),
    staleTime: 30_000
  })

export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: ["endpoints", id],
    queryFn: ({ signal }) => getWebhookEndpoint(connection, id, { signal }),
    staleTime: 5000
  })

export const keysQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "keys"],
    queryFn: ({ signal }) => everything(listApiKeys(connection, org, { signal, limit: 100 })),
    staleTime: 30_000
  })

export const offlineCertificateQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "offlineCertificate"],
    queryFn: ({ signal }) => getOfflineCertificate(connection, org, { signal })
  })

export const credentialQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "credential"],
    queryFn: ({ signal }) => getGatewayCredential(connection, org, { signal }),
    refetchInterval: everyBy<GatewayCredential>((data) => (data?.state === "unchecked" ? pollMs.list : pollMs.picture))
  })

/** A minute of an address as the timestamp that the API takes. */
const timestamp = (minute: string | undefined) => minute && new Date(minute).toISOString()

const deliveryFilter = ({ event, from, invoice, status, to, type }: DeliverySearch) => ({
  limit: pageSize,
  status,
  eventType: type,
  eventId: event,
  invoiceId: invoice,
  createdAfter: timestamp(from),
  createdBefore: timestamp(to)
})

/** A page of deliveries: of one endpoint, or of all endpoints of the organization. */
export const deliveriesQuery = (org: string, search: DeliverySearch) => {
  const { cursor, endpoint, in: _, ...filter } = search
  return queryOptions({
    queryKey: ["organizations", org, "deliveries", endpoint ?? "all", filter, cursor ?? "first"],
    queryFn: ({ signal }) => {
      const options = { ...deliveryFilter(search), signal }
      const list =
        endpoint === undefined
          ? listOrganizationDeliveries(connection, org, options)
          : listDeliveries(connection, endpoint, options)
      return list.page(cursor)
    },
    // Keeps the page before in place of a skeleton.
    placeholderData: (before: Page<WebhookDelivery> | undefined) => (cursor === undefined ? undefined : before),
    refetchInterval: cursor === undefined ? every(pollMs.list) : false
  })
}

export const deliveryQuery = (endpoint: string, id: string) =>
  queryOptions({
    queryKey: ["endpoints", endpoint, "deliveries", id],
    queryFn: ({ signal }) => getDelivery(connection, endpoint, id, { signal }),
    refetchInterval: everyUnsettled(pollMs.awaited)
  })

const dayMs = 86_400_000

/** Whether a live invoice of the last 24 hours was rejected or failed, which the counts do not tell from test invoices. */
export const liveTroubleQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "invoices", "live trouble"],
    queryFn: async ({ signal }) => {
      const createdAfter = new Date(Date.now() - dayMs).toISOString()
      const newest = (status: "failed" | "rejected") =>
        listInvoices(connection, org, { limit: 1, status, mode: "live", createdAfter, signal }).page()
      const pages = await Promise.all([newest("rejected"), newest("failed")])
      return pages.some(({ data }) => data.length > 0)
    },
    refetchInterval: every(pollMs.picture)
  })

/** A page of invoices. */
export const invoicesQuery = (org: string, { cursor, ...filter }: InvoiceSearch) =>
  queryOptions({
    queryKey: ["organizations", org, "invoices", filter, cursor ?? "first"],
    queryFn: ({ signal }) =>
      listInvoices(connection, org, {
        limit: pageSize,
        status: filter.status,
        mode: filter.mode,
        createdAfter: timestamp(filter.from),
        createdBefore: timestamp(filter.to),
        number: filter.number,
        officialNumber: filter.official,
        buyerTaxId: filter.buyer,
        sellerTaxId: filter.seller,
        metadata: filter.metadata === undefined ? undefined : metadataOf(filter.metadata),
        idempotencyKey: filter.key,
        signal
      }).page(cursor),
    placeholderData: (before: Page<Invoice> | undefined) => (cursor === undefined ? undefined : before),
    refetchInterval: cursor === undefined ? every(pollMs.list) : false
  })

export const invoiceQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["organizations", org, "invoice", id],
    queryFn: ({ signal }) => getOrganizationInvoice(connection, org, id, { signal }),
    refetchInterval: everyUnsettled(pollMs.awaited)
  })

/** The newest deliveries of the events of an invoice. */
export const deliveriesOfInvoiceQuery = (org: string, invoice: string) =>
  queryOptions({
    queryKey: ["organizations", org, "invoice", invoice, "deliveries"],
    queryFn: ({ signal }) =>
      listOrganizationDeliveries(connection, org, { invoiceId: invoice, limit: 20, signal }).page(),
    refetchInterval: everyBy<Page<WebhookDelivery>>((page) =>
      page?.data.some(isUnsettled) === true ? pollMs.awaited : pollMs.list
    )
  })

/** Where the server ends a count of the deliveries of one endpoint. */
export const mostCounted = 10_000

export const statsQuery = (endpoint: string, window: "24h" | "7d") =>
  queryOptions({
    queryKey: ["endpoints", endpoint, "stats", window],
    queryFn: ({ signal }) => getDeliveryStats(connection, endpoint, { window, signal }),
    refetchInterval: every(pollMs.picture)
  })

export const overviewQuery = (org: string, window: "24h" | "7d" = "24h") =>
  queryOptions({
    queryKey: ["organizations", org, "overview", window],
    queryFn: ({ signal }) => getOverview(connection, org, { window, signal }),
    refetchInterval: every(pollMs.picture)
  })

/** The organization with this id, out of the list of the account. */
export const useOrganization = (org: string) =>
  useQuery({ ...organizationsQuery, select: (all) => all.find(({ id }) => id === org) ?? null })

/** The invoice of an event. Events expire before invoices do: then there is none. */
export const invoiceOfEventQuery = (org: string, event: string) =>
  queryOptions({
    queryKey: ["organizations", org, "events", event, "invoice"],
    queryFn: async ({ signal }) =>
      (await listInvoices(connection, org, { eventId: event, limit: 1, signal }).page()).data[0] ?? null,
    staleTime: Infinity
  })

/** The invoices that wait for the national system, and the used part of its limits. */
export const liveStatusQuery = (org: string) =>
  queryOptions({
    queryKey: ["organizations", org, "live"],
    queryFn: ({ signal }) => getLiveStatus(connection, org, { signal }),
    refetchInterval: every(pollMs.list)
  })
