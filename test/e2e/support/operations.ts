/** Every operation of the API with a valid request, for tests of all operations. */
import { randomUUID } from "node:crypto"
import { makePair } from "../../../packages/ksef/test/support/certificates.ts"
import { password, type Tenant, xml } from "./client.ts"

const offlinePair = makePair({ key: "P-256", keyUsage: ["nonRepudiation"] })

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly auth: "key" | "token" | "none"
  readonly body?: Readonly<Record<string, unknown>>
  /** The error code for a resource of another account. */
  readonly absent?: string
  readonly isList?: true
  /** A request without a body is like one with an empty object. */
  readonly isBodyOptional?: true
  /** It succeeds only with a record that the tenant does not have. */
  readonly needsRecord?: true
}

/** The operations as this tenant would call them. */
export const operationsOf = (tenant: Tenant, invoiceId: string): ReadonlyArray<Operation> => {
  const control = "/v1/control-plane"
  const organization = `${control}/organizations/${tenant.organizationId}`
  const endpoint = `${control}/webhook-endpoints/${tenant.endpointId}`
  const ofOrganization = { auth: "token", absent: "organization_not_found" } as const
  const ofEndpoint = { auth: "token", absent: "webhook_endpoint_not_found" } as const
  const webhook = { url: "https://example.com/webhooks", event_types: ["*"] }

  return [
    { id: "me.get", method: "GET", path: "/v1/me", auth: "key" },
    { id: "invoices.submit", method: "POST", path: "/v1/invoices", auth: "key", body: { invoice_xml: xml } },
    { id: "invoices.list", method: "GET", path: "/v1/invoices", auth: "key", isList: true },
    { id: "invoices.get", method: "GET", path: `/v1/invoices/${invoiceId}`, auth: "key", absent: "invoice_not_found" },
    {
      id: "invoices.upo",
      method: "GET",
      path: `/v1/invoices/${invoiceId}/upo`,
      auth: "key",
      absent: "invoice_not_found"
    },
    {
      id: "invoices.document",
      method: "GET",
      path: `/v1/invoices/${invoiceId}/document`,
      auth: "key",
      absent: "invoice_not_found"
    },
    {
      id: "invoices.pdf",
      method: "GET",
      path: `/v1/invoices/${invoiceId}/pdf`,
      auth: "key",
      absent: "invoice_not_found"
    },
    {
      id: "invoices.qr",
      method: "GET",
      path: `/v1/invoices/${invoiceId}/qr`,
      auth: "key",
      absent: "invoice_not_found"
    },
    {
      id: "accounts.create",
      method: "POST",
      path: `${control}/accounts`,
      auth: "none",
      body: { email: `new-${randomUUID()}@example.com`, password }
    },
    {
      id: "accounts.login",
      method: "POST",
      path: `${control}/auth/login`,
      auth: "none",
      body: { email: tenant.email, password }
    },
    {
      id: "accounts.refresh",
      method: "POST",
      path: `${control}/auth/refresh`,
      auth: "none",
      body: { refresh_token: tenant.refreshToken }
    },
    {
      id: "accounts.logout",
      method: "POST",
      path: `${control}/auth/logout`,
      auth: "none",
      body: { refresh_token: "of nobody" }
    },
    {
      id: "accounts.changePassword",
      method: "PUT",
      path: `${control}/account/password`,
      auth: "token",
      body: { current_password: password, new_password: password }
    },
    { id: "accounts.get", method: "GET", path: `${control}/account`, auth: "token" },
    { id: "organizations.list", method: "GET", path: `${control}/organizations`, auth: "token", isList: true },
    {
      id: "organizations.create",
      method: "POST",
      path: `${control}/organizations`,
      auth: "token",
      body: { name: "Another" }
    },
    { id: "organizations.get", method: "GET", path: organization, ...ofOrganization },
    { id: "organizations.update", method: "PATCH", path: organization, ...ofOrganization, body: { name: "Renamed" } },
    {
      id: "organizations.putGatewayCredential",
      method: "PUT",
      path: `${organization}/gateway-credential`,
      ...ofOrganization,
      body: { token: "a token of the national system", context: { type: "Nip", value: "5265877635" } }
    },
    {
      id: "organizations.getGatewayCredential",
      method: "GET",
      path: `${organization}/gateway-credential`,
      ...ofOrganization
    },
    {
      id: "organizations.deleteGatewayCredential",
      method: "DELETE",
      path: `${organization}/gateway-credential`,
      ...ofOrganization
    },
    {
      id: "organizations.putOfflineCertificate",
      method: "PUT",
      path: `${organization}/offline-certificate`,
      ...ofOrganization,
      body: { certificate: offlinePair.certificate, private_key: offlinePair.privateKey }
    },
    {
      id: "organizations.getOfflineCertificate",
      method: "GET",
      path: `${organization}/offline-certificate`,
      ...ofOrganization
    },
    {
      id: "organizations.deleteOfflineCertificate",
      method: "DELETE",
      path: `${organization}/offline-certificate`,
      ...ofOrganization
    },
    {
      id: "organizations.listInvoices",
      method: "GET",
      path: `${organization}/invoices`,
      ...ofOrganization,
      isList: true
    },
    { id: "organizations.getLiveStatus", method: "GET", path: `${organization}/live-status`, ...ofOrganization },
    { id: "organizations.getOverview", method: "GET", path: `${organization}/overview`, ...ofOrganization },
    {
      id: "organizations.getInvoice",
      method: "GET",
      path: `${organization}/invoices/${invoiceId}`,
      ...ofOrganization
    },
    {
      id: "organizations.getInvoiceUpo",
      method: "GET",
      path: `${organization}/invoices/${invoiceId}/upo`,
      ...ofOrganization
    },
    {
      id: "organizations.getInvoiceDocument",
      method: "GET",
      path: `${organization}/invoices/${invoiceId}/document`,
      ...ofOrganization
    },
    {
      id: "organizations.getInvoicePdf",
      method: "GET",
      path: `${organization}/invoices/${invoiceId}/pdf`,
      ...ofOrganization
    },
    {
      id: "organizations.getInvoiceQr",
      method: "GET",
      path: `${organization}/invoices/${invoiceId}/qr`,
      ...ofOrganization
    },
    { id: "apiKeys.list", method: "GET", path: `${organization}/api-keys`, ...ofOrganization, isList: true },
    {
      id: "apiKeys.create",
      method: "POST",
      path: `${organization}/api-keys`,
      ...ofOrganization,
      body: { mode: "test", name: "another" }
    },
    {
      id: "apiKeys.revoke",
      method: "DELETE",
      path: `${control}/api-keys/${tenant.testKeyId}`,
      auth: "token",
      absent: "api_key_not_found"
    },
    {
      id: "webhookEndpoints.list",
      method: "GET",
      path: `${organization}/webhook-endpoints`,
      ...ofOrganization,
      isList: true
    },
    {
      id: "webhookEndpoints.create",
      method: "POST",
      path: `${organization}/webhook-endpoints`,
      ...ofOrganization,
      body: webhook
    },
    { id: "webhookEndpoints.get", method: "GET", path: endpoint, ...ofEndpoint },
    {
      id: "webhookEndpoints.update",
      method: "PATCH",
      path: endpoint,
      ...ofEndpoint,
      body: { description: "changed" }
    },
    {
      id: "webhookEndpoints.rotateSecret",
      method: "POST",
      path: `${endpoint}/rotate-secret`,
      ...ofEndpoint,
      body: {},
      isBodyOptional: true
    },
    {
      id: "webhookEndpoints.listAllDeliveries",
      method: "GET",
      path: `${organization}/deliveries`,
      ...ofOrganization,
      isList: true
    },
    {
      id: "webhookEndpoints.listDeliveries",
      method: "GET",
      path: `${endpoint}/deliveries`,
      ...ofEndpoint,
      isList: true
    },
    { id: "webhookEndpoints.getDeliveryStats", method: "GET", path: `${endpoint}/delivery-stats`, ...ofEndpoint },
    {
      id: "webhookEndpoints.getDelivery",
      method: "GET",
      path: `${endpoint}/deliveries/wd_x`,
      ...ofEndpoint,
      needsRecord: true
    },
    { id: "webhookEndpoints.delete", method: "DELETE", path: endpoint, ...ofEndpoint },
    { id: "accounts.logoutAll", method: "POST", path: `${control}/auth/logout-all`, auth: "token" }
  ]
}

/** The request of an operation: its credential, its body, and the values of its headers. */
export const optionsOf = (operation: Operation, credentials: { readonly key: string; readonly token: string }) => ({
  auth: operation.auth === "none" ? undefined : credentials[operation.auth],
  body: operation.body,
  headers: operation.id === "invoices.submit" ? { "idempotency-key": randomUUID() } : {}
})
