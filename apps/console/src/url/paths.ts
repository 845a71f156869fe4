/**
 * The addresses of the screens, below `/console`. Nothing else builds an address.
 */
const organization = (org: string) => `/o/${org}`
const endpoint = (org: string, id: string) => `/o/${org}/endpoints/${id}`

export const paths = {
  home: "/",
  login: "/login",
  signup: "/signup",
  forgot: "/forgot",
  reset: "/reset",
  account: "/account",
  newOrganization: "/organizations/new",
  go: (id: string) => `/go/${encodeURIComponent(id)}`,
  overview: organization,
  invoices: (org: string) => `${organization(org)}/invoices`,
  invoice: (org: string, id: string) => `${organization(org)}/invoices/${id}`,
  invoiceXml: (org: string, id: string) => `${organization(org)}/invoices/${id}/xml`,
  deliveries: (org: string) => `${organization(org)}/deliveries`,
  endpoints: (org: string) => `${organization(org)}/endpoints`,
  newEndpoint: (org: string) => `${organization(org)}/endpoints/new`,
  endpoint,
  endpointTab: (org: string, id: string, tab: EndpointTab) =>
    tab === "health" ? endpoint(org, id) : `${endpoint(org, id)}/${tab}`,
  delivery: (org: string, endpointId: string, id: string) => `${endpoint(org, endpointId)}/deliveries/${id}`,
  keys: (org: string) => `${organization(org)}/keys`,
  newKey: (org: string) => `${organization(org)}/keys/new`,
  live: (org: string) => `${organization(org)}/live`,
  settings: (org: string) => `${organization(org)}/settings`
}

/** The patterns of addresses with more than the organization. */
export const patterns = {
  delivery: "/o/:org/endpoints/:endpoint/deliveries/:delivery",
  endpoint: "/o/:org/endpoints/:endpoint/:tab?",
  invoice: "/o/:org/invoices/:invoice/:tab?",
  go: "/go/:id"
} as const

/** The tabs of an endpoint. `health` is the address of the endpoint itself. */
export const endpointTabs = ["health", "deliveries", "receiver", "settings"] as const

export type EndpointTab = (typeof endpointTabs)[number]
