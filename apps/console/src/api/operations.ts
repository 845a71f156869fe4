/**
 * Operations of the control plane that the console needs beside those of the client.
 */
import type {
  CallOptions,
  ControlPlaneConnection,
  Invoice,
  List,
  ListOptions,
  Page,
  WebhookDelivery
} from "@govoice/client"

interface TimeRange {
  readonly createdAfter?: string | undefined
  readonly createdBefore?: string | undefined
}

interface DeliveryFilter extends ListOptions, TimeRange {
  readonly status?: string | undefined
  readonly eventType?: string | undefined
  readonly eventId?: string | undefined
  readonly invoiceId?: string | undefined
}

interface InvoiceFilter extends ListOptions, TimeRange {
  readonly status?: string | undefined
  readonly mode?: string | undefined
  readonly eventId?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export interface StatsBucket {
  readonly start: string
  readonly total: number
  readonly retrying: number
  readonly failed: number
  readonly endpointDisabled: number
  readonly capped: boolean
}

export interface DeliveryStats {
  readonly endpointId: string
  readonly window: string
  readonly bucketSeconds: number
  readonly generatedAt: string
  readonly now: { readonly waiting: number; readonly retrying: number }
  readonly buckets: ReadonlyArray<StatsBucket>
}

export interface Overview {
  readonly organizationId: string
  readonly generatedAt: string
  readonly endpoints: ReadonlyArray<{
    readonly endpointId: string
    readonly waiting: number
    readonly retrying: number
    readonly failed24h: number
    readonly buckets: ReadonlyArray<StatsBucket>
  }>
  readonly invoices: { readonly retrying: number; readonly rejected24h: number; readonly failed24h: number }
}

const camel = (text: string) => text.replaceAll(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
const snake = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const rename = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(rename)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([k, v]) => [camel(k), k === "metadata" ? v : rename(v)]))
      : value

const get = <A>(connection: ControlPlaneConnection, path: string, options: CallOptions & object = {}): Promise<A> => {
  const { signal, timeoutMs: _1, deadlineMs: _2, ...rest } = options
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries<string | number | undefined>(rest))
    if (value !== undefined) query.set(snake(name), String(value))
  return connection["~send"](
    "GET",
    `${path}?${query}`,
    async (response) => rename(JSON.parse(await response.text())) as A,
    { signal }
  )
}
const list =
  <A>(path: string) =>
  (connection: ControlPlaneConnection, options: ListOptions): List<A> =>
    ({
      page: (cursor?: string) => get<Page<A>>(connection, path, { ...options, ...(cursor && { cursor }) })
    }) as List<A>

export const listOrganizationDeliveries = (c: ControlPlaneConnection, org: string, o: DeliveryFilter) =>
  list<WebhookDelivery>(`organizations/${org}/deliveries`)(c, o)
export const listEndpointDeliveries = (c: ControlPlaneConnection, id: string, o: DeliveryFilter) =>
  list<WebhookDelivery>(`webhook-endpoints/${id}/deliveries`)(c, o)
export const listOrganizationInvoices = (c: ControlPlaneConnection, org: string, o: InvoiceFilter) =>
  list<Invoice>(`organizations/${org}/invoices`)(c, o)
export const getDeliveryStats = (
  c: ControlPlaneConnection,
  id: string,
  o: CallOptions & { readonly window: "24h" | "7d" }
) => get<DeliveryStats>(c, `webhook-endpoints/${id}/delivery-stats`, o)
export const getOverview = (c: ControlPlaneConnection, org: string, o?: CallOptions) =>
  get<Overview>(c, `organizations/${org}/overview`, o)
