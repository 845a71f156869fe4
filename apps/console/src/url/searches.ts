/**
 * The search parameters of the screens.
 */
import { knownEventTypes } from "../text/events.ts"
import { isId } from "./ids.ts"
import { isMetadata } from "./invoiceNames.ts"
import { anyText, choice, matching, minute, oneOf, searchCodec, type SearchOf } from "./search.ts"

export const knownInvoiceStatuses = [
  "queued",
  "submitting",
  "retrying",
  "submitted",
  "accepted",
  "rejected",
  "failed"
] as const

export const knownDeliveryStatuses = [
  "pending",
  "delivering",
  "succeeded",
  "retrying",
  "failed",
  "endpoint_disabled"
] as const

/** The longest cursor that is kept. Cursors are made by the server and opaque. */
const cursor = anyText(400)

/** The list of deliveries. `in` tells whether an open delivery covers the list of its endpoint or of the organization. */
export const deliverySearch = searchCodec({
  status: oneOf(knownDeliveryStatuses),
  endpoint: matching((text) => isId("we", text)),
  type: oneOf(knownEventTypes),
  event: matching((text) => isId("evt", text)),
  invoice: matching((text) => isId("inv", text)),
  from: minute,
  to: minute,
  cursor,
  in: oneOf(["endpoint"])
})

export type DeliverySearch = SearchOf<typeof deliverySearch>

export const noDeliveryFilter: DeliverySearch = deliverySearch.read("").value

const invoiceCodec = searchCodec({
  status: oneOf(knownInvoiceStatuses),
  mode: oneOf(["test", "live"]),
  from: minute,
  to: minute,
  number: anyText(1000),
  official: anyText(100),
  buyer: anyText(100),
  seller: anyText(100),
  metadata: matching(isMetadata),
  key: anyText(255),
  cursor
})

/** The list of invoices. `key` is an idempotency key, which is unique in its mode: that of tests if the address names none. */
export const invoiceSearch: typeof invoiceCodec = {
  ...invoiceCodec,
  read: (search) => {
    const { dropped, value } = invoiceCodec.read(search)
    return { dropped, value: { ...value, mode: value.mode ?? (value.key === undefined ? undefined : "test") } }
  }
}

export type InvoiceSearch = SearchOf<typeof invoiceSearch>

export const noInvoiceFilter: InvoiceSearch = invoiceSearch.read("").value

/** Delivery counts of an endpoint or of the overview: the window of the bars, and whether their table is shown. */
export const healthSearch = searchCodec({ window: choice(["24h", "7d"]), as: choice(["bars", "table"]) })

export type HealthSearch = SearchOf<typeof healthSearch>
