/** The screens of the console, for the tests of their states and for the pictures of the guide. */

/** Records that the addresses of screens need. */
export interface Records {
  readonly org: string
  readonly endpoint: string
  /** A failed delivery and its endpoint. */
  readonly failed: { readonly endpoint: string; readonly delivery: string }
  readonly invoice: string
}

/** A screen. */
export interface Screen {
  readonly name: string
  /** Below the organization. */
  readonly path: (records: Records) => string
  /** Whether it shows the same without records: a form, or words. */
  readonly isStatic?: boolean
  /** Whether its picture is in the guide. */
  readonly inGuide?: boolean
}

export const screens: ReadonlyArray<Screen> = [
  { name: "overview", path: () => "", inGuide: true },
  { name: "overview-table", path: () => "?window=7d&as=table" },
  { name: "deliveries", path: () => "/deliveries", inGuide: true },
  {
    name: "delivery",
    path: ({ failed }) => `/endpoints/${failed.endpoint}/deliveries/${failed.delivery}?status=failed`,
    inGuide: true
  },
  { name: "endpoints", path: () => "/endpoints" },
  { name: "endpoint", path: ({ endpoint }) => `/endpoints/${endpoint}`, inGuide: true },
  { name: "endpoint-table", path: ({ endpoint }) => `/endpoints/${endpoint}?as=table` },
  { name: "endpoint-deliveries", path: ({ endpoint }) => `/endpoints/${endpoint}/deliveries` },
  { name: "endpoint-receiver", path: ({ endpoint }) => `/endpoints/${endpoint}/receiver` },
  { name: "endpoint-settings", path: ({ endpoint }) => `/endpoints/${endpoint}/settings` },
  { name: "new-endpoint", path: () => "/endpoints/new", isStatic: true },
  { name: "invoices", path: () => "/invoices", inGuide: true },
  { name: "invoice", path: ({ invoice }) => `/invoices/${invoice}`, inGuide: true },
  { name: "keys", path: () => "/keys", inGuide: true },
  { name: "new-key", path: () => "/keys/new", isStatic: true },
  { name: "live", path: () => "/live", inGuide: true },
  { name: "settings", path: () => "/settings", isStatic: true },
  { name: "account", path: () => "/../../account", isStatic: true },
  { name: "new-organization", path: () => "/../../organizations/new", isStatic: true },
  { name: "nothing", path: () => "/nothing", isStatic: true }
]

/** The address of a screen. */
export const addressOf = (origin: string, records: Records, { path }: Pick<Screen, "path">): string =>
  new URL(`${origin}/console/o/${records.org}${path(records)}`).href
