/**
 * The functions of the root entry as Effects. Errors are in the error channel, and interruption aborts the request.
 *
 * Functions that list records return one page: see {@link listInvoices}.
 *
 * @module
 * @since 0.1.0
 */
import { type Connection, createConnection } from "./connection.ts"
import { bind } from "./internal/bind.ts"
import { paced } from "./internal/paced.ts"
import {
  createAccount,
  createApiKey,
  createOrganization,
  deleteGatewayCredential,
  deleteOfflineCertificate,
  downloadDocument,
  downloadPdf,
  downloadQr,
  downloadUpo,
  getAccount,
  getGatewayCredential,
  getInvoice,
  getMe,
  getOfflineCertificate,
  getOrganization,
  listApiKeys,
  listInvoices,
  listOrganizations,
  listSubmittedInvoices,
  revokeApiKey,
  setGatewayCredential,
  setOfflineCertificate,
  submitAndWait,
  submitInvoice,
  updateOrganization,
  waitForUpo,
  waitUntilFinal
} from "./effectOperations.ts"
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint
} from "./effectWebhookEndpoints.ts"
import { lift, type Lifted } from "./internal/lift.ts"
import type { ConnectionOptions, DeveloperOptions } from "./options.ts"
import * as Root from "./session.ts"

/**
 * A connection to the control plane with a login.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session extends Root.ControlPlaneConnection {
  /** Logs in. The session stores the tokens and refreshes the access token when it has expired. */
  readonly login: Lifted<Root.Session["login"]>

  /** Logs out: the service revokes all tokens of the login. Does nothing without a login. */
  readonly logout: Lifted<Root.Session["logout"]>
}

/**
 * Creates a connection to the control plane, for functions such as {@link createOrganization}.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createSession = (options: ConnectionOptions): Session => {
  const session = Root.createSession(options)
  return { ...session, login: lift(session.login, 1), logout: lift(session.logout, 0) }
}

const developer = (connection: Connection) => ({
  ...connection,
  /** Returns the API key of the client and its organization. */
  me: bind(connection, getMe),
  invoices: {
    /** Submits an invoice. Succeeds after the service has stored it. Pass `idempotencyKey` if the Effect may run again. */
    submit: bind(connection, submitInvoice),
    /** Returns an invoice. */
    get: bind(connection, getInvoice),
    /** Returns one page of the invoices of the organization and the mode of the API key, newest first. */
    list: bind(connection, listSubmittedInvoices),
    /** Waits until the status of an invoice is final. Succeeds with the invoice: accepted, rejected or failed. */
    waitUntilFinal: bind(connection, waitUntilFinal),
    /** Waits until the official receipt (UPO) of an invoice can be downloaded. Succeeds with the invoice. */
    waitForUpo: bind(connection, waitForUpo),
    /** Downloads the official receipt (UPO) of an invoice. Succeeds after all of it was read. */
    downloadUpo: bind(connection, downloadUpo),
    /** Downloads the document of an invoice as it was submitted, byte for byte. Succeeds after all of it was read. */
    document: bind(connection, downloadDocument),
    /** Draws a QR code that the seller prints on the invoice, with the text that belongs below it. */
    pdf: bind(connection, downloadPdf),
    qr: bind(connection, downloadQr),
    /** Submits an invoice and waits until its status is final. Succeeds with the invoice: accepted, rejected or failed. */
    submitAndWait: bind(connection, submitAndWait)
  }
})

/**
 * The developer API.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client extends ReturnType<typeof developer> {}

/**
 * Creates a client of the developer API.
 *
 * **Example** (Submitting an invoice)
 *
 * ```ts
 * import { createClient } from "@govoice/client/effect"
 * import * as Effect from "effect/Effect"
 *
 * const client = createClient({ apiKey: "sk_test_…", baseUrl: "https://api.example.com" })
 *
 * export const program = client.invoices.submitAndWait({ invoiceXml: "<Faktura>…</Faktura>" }).pipe(
 *   Effect.map(({ officialNumber }) => officialNumber),
 *   Effect.catchTag("TimeoutError", ({ invoice }) => Effect.succeed(invoice?.status ?? null))
 * )
 * ```
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createClient = (options: DeveloperOptions): Client =>
  developer({ "~send": paced(createConnection(options)["~send"]) })

const owner = (session: Session) => ({
  ...session,
  accounts: {
    /** Creates an account. Does not log in. */
    create: bind(session, createAccount),
    /** Returns the account of the login. */
    get: bind(session, getAccount)
  },
  organizations: {
    /** Creates an organization. */
    create: bind(session, createOrganization),
    /** Returns one page of the organizations of the account, newest first. */
    list: bind(session, listOrganizations),
    /** Returns an organization. */
    get: bind(session, getOrganization),
    /** Changes an organization. Members that are left out are unchanged. */
    update: bind(session, updateOrganization),
    /** Stores the credential of an organization for the national system. Replaces an existing one. */
    setGatewayCredential: bind(session, setGatewayCredential),
    /** Returns the credential without its secrets: until when it is valid, and whether the national system accepts it. */
    getGatewayCredential: bind(session, getGatewayCredential),
    /** Deletes the credential of an organization for the national system. */
    deleteGatewayCredential: bind(session, deleteGatewayCredential),
    /** Stores the certificate with which an organization issues invoices offline. Replaces an existing one. */
    setOfflineCertificate: bind(session, setOfflineCertificate),
    /** Returns the certificate with which an organization issues invoices offline, without its private key. */
    getOfflineCertificate: bind(session, getOfflineCertificate),
    /** Deletes the certificate with which an organization issues invoices offline. */
    deleteOfflineCertificate: bind(session, deleteOfflineCertificate)
  },
  apiKeys: {
    /** Creates an API key. Only this response contains its `secret`. */
    create: bind(session, createApiKey),
    /** Returns one page of the API keys of an organization that are not revoked, newest first. */
    list: bind(session, listApiKeys),
    /** Revokes an API key. Requests with it fail immediately. */
    revoke: bind(session, revokeApiKey)
  },
  webhookEndpoints: {
    /** Creates a webhook endpoint. Only this response contains its signing `secret`. */
    create: bind(session, createWebhookEndpoint),
    /** Returns one page of the webhook endpoints of an organization, newest first. */
    list: bind(session, listWebhookEndpoints),
    /** Returns a webhook endpoint. */
    get: bind(session, getWebhookEndpoint),
    /** Changes a webhook endpoint. Members that are left out are unchanged. */
    update: bind(session, updateWebhookEndpoint),
    /** Rotates the signing secret. Only this response contains the new one. The old one signs until `secretActivatesAt`. */
    rotateSecret: bind(session, rotateWebhookSecret),
    /** Deletes a webhook endpoint. Its pending deliveries become `endpoint_disabled`. */
    delete: bind(session, deleteWebhookEndpoint)
  },
  invoices: {
    /** Returns one page of the invoices of an organization, newest first. */
    list: bind(session, listInvoices)
  },
  deliveries: {
    /** Returns one page of the deliveries of a webhook endpoint, newest first. */
    list: bind(session, listDeliveries)
  }
})

/**
 * The control plane.
 *
 * @category models
 * @since 0.1.0
 */
export interface ControlPlane extends ReturnType<typeof owner> {}

/**
 * Creates a client of the control plane.
 *
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
 */
export const createControlPlane = (options: ConnectionOptions): ControlPlane => owner(createSession(options))

export {
  changePassword,
  createAccount,
  createApiKey,
  createOrganization,
  deleteGatewayCredential,
  deleteOfflineCertificate,
  downloadOrganizationUpo,
  downloadDocument,
  downloadOrganizationDocument,
  downloadOrganizationPdf,
  downloadOrganizationQr,
  downloadPdf,
  downloadQr,
  downloadUpo,
  getAccount,
  getGatewayCredential,
  getInvoice,
  getLiveStatus,
  getMe,
  getOfflineCertificate,
  getOrganization,
  getOrganizationInvoice,
  getOverview,
  listApiKeys,
  listInvoices,
  listOrganizations,
  listSubmittedInvoices,
  logoutAll,
  revokeApiKey,
  setGatewayCredential,
  setOfflineCertificate,
  submitAndWait,
  submitInvoice,
  updateOrganization,
  waitForUpo,
  waitUntilFinal
} from "./effectOperations.ts"
export {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getDelivery,
  getDeliveryStats,
  getWebhookEndpoint,
  listDeliveries,
  listOrganizationDeliveries,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint
} from "./effectWebhookEndpoints.ts"
export { createConnection } from "./connection.ts"
export type { Connection } from "./connection.ts"
export { createTokenSession } from "./session.ts"
export type { TokenSessionOptions } from "./session.ts"
export type { ConnectionOptions, DeveloperOptions, RequestInfo, ResponseInfo, RetryInfo } from "./options.ts"
export {
  AbortedError,
  ApiError,
  ConnectionError,
  DecodeError,
  GovoiceError,
  isApiError,
  isGovoiceError,
  TimeoutError,
  UpoUnavailableError
} from "./error.ts"
export type { AnyGovoiceError, ErrorFields } from "./error.ts"
export type { RequestParts, Send } from "./internal/transport.ts"
export type { ErrorCode, ErrorType } from "./errorCode.ts"
export type { Page } from "./list.ts"
export type { InvoiceSubmission, SubmittedInvoice } from "./invoices.ts"
export type { Download, QrOptions } from "./download.ts"
export type { Invoice } from "./records.ts"
