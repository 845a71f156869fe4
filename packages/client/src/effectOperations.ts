/**
 * The operations of the root entry as Effects.
 *
 * @module
 * @since 0.1.0
 */
import * as Accounts from "./accounts.ts"
import * as ApiKeys from "./apiKeys.ts"
import { lift, type Lifted, liftList, type LiftedList } from "./internal/lift.ts"
import * as Invoices from "./invoices.ts"
import * as Organizations from "./organizations.ts"
import * as Waiting from "./waiting.ts"

/**
 * Returns the API key of the connection and its organization.
 *
 * @category developer API
 * @since 0.1.0
 */
export const getMe: Lifted<typeof Invoices.getMe> = /* @__PURE__ */ lift(Invoices.getMe, 1)

/**
 * Submits an invoice. Succeeds after the service has stored it.
 *
 * **Gotchas**
 *
 * Without `idempotencyKey`, each run of the Effect is a new submission. Pass a key if the Effect may run again, as with
 * `Effect.retry`. A key with characters other than printable ASCII is a defect.
 *
 * @category developer API
 * @since 0.1.0
 */
export const submitInvoice: Lifted<typeof Invoices.submitInvoice> = /* @__PURE__ */ lift(Invoices.submitInvoice, 2)

/**
 * Returns an invoice.
 *
 * @category developer API
 * @since 0.1.0
 */
export const getInvoice: Lifted<typeof Invoices.getInvoice> = /* @__PURE__ */ lift(Invoices.getInvoice, 2)

/**
 * Returns one page of the invoices of the organization and the mode of the API key, newest first.
 *
 * @category developer API
 * @since 0.1.0
 */
export const listSubmittedInvoices: LiftedList<typeof Invoices.listSubmittedInvoices> = /* @__PURE__ */ liftList(
  Invoices.listSubmittedInvoices,
  1
)

/**
 * Downloads the official receipt (UPO) of an invoice. Succeeds after all of it was read.
 *
 * @category developer API
 * @since 0.1.0
 */
export const downloadUpo: Lifted<typeof Invoices.downloadUpo> = /* @__PURE__ */ lift(Invoices.downloadUpo, 2)

/**
 * Downloads the document of an invoice as it was submitted, byte for byte. Succeeds after all of it was read.
 *
 * @category developer API
 * @since 0.1.0
 */
export const downloadDocument: Lifted<typeof Invoices.downloadDocument> = /* @__PURE__ */ lift(
  Invoices.downloadDocument,
  2
)

/**
 * Draws an invoice as a PDF: what its document says, in Polish and English, with its QR codes. It is a visualization; the invoice is
 * the document.
 *
 * @category developer API
 * @since 0.1.0
 */
export const downloadPdf: Lifted<typeof Invoices.downloadPdf> = /* @__PURE__ */ lift(Invoices.downloadPdf, 2)

/**
 * Draws a QR code that the seller prints on the invoice, with the text that belongs below it.
 *
 * @category developer API
 * @since 0.1.0
 */
export const downloadQr: Lifted<typeof Invoices.downloadQr> = /* @__PURE__ */ lift(Invoices.downloadQr, 2)

/**
 * Waits until the status of an invoice is final. Succeeds with the invoice: accepted, rejected or failed.
 *
 * @category developer API
 * @since 0.1.0
 */
export const waitUntilFinal: Lifted<typeof Waiting.waitUntilFinal> = /* @__PURE__ */ lift(Waiting.waitUntilFinal, 2)

/**
 * Waits until the official receipt (UPO) of an invoice can be downloaded. Succeeds with the invoice.
 *
 * @category developer API
 * @since 0.1.0
 */
export const waitForUpo: Lifted<typeof Waiting.waitForUpo> = /* @__PURE__ */ lift(Waiting.waitForUpo, 2)

/**
 * Submits an invoice and waits until its status is final. Succeeds with the invoice: accepted, rejected or failed.
 *
 * @category developer API
 * @since 0.1.0
 */
export const submitAndWait: Lifted<typeof Waiting.submitAndWait> = /* @__PURE__ */ lift(Waiting.submitAndWait, 2)

/**
 * Creates an account. Does not log in.
 *
 * @category control plane
 * @since 0.1.0
 */
export const createAccount: Lifted<typeof Accounts.createAccount> = /* @__PURE__ */ lift(Accounts.createAccount, 2)

/**
 * Returns the account of the login.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getAccount: Lifted<typeof Accounts.getAccount> = /* @__PURE__ */ lift(Accounts.getAccount, 1)

/**
 * Changes the password of the account. All other logins end.
 *
 * @category control plane
 * @since 0.1.0
 */
export const changePassword: Lifted<typeof Accounts.changePassword> = /* @__PURE__ */ lift(Accounts.changePassword, 2)

/**
 * Logs out everywhere: all logins of the account end, also this one.
 *
 * @category control plane
 * @since 0.1.0
 */
export const logoutAll: Lifted<typeof Accounts.logoutAll> = /* @__PURE__ */ lift(Accounts.logoutAll, 1)

/**
 * Creates an API key. Only this response contains its `secret`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const createApiKey: Lifted<typeof ApiKeys.createApiKey> = /* @__PURE__ */ lift(ApiKeys.createApiKey, 3)

/**
 * Returns one page of the API keys of an organization that are not revoked, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listApiKeys: LiftedList<typeof ApiKeys.listApiKeys> = /* @__PURE__ */ liftList(ApiKeys.listApiKeys, 2)

/**
 * Revokes an API key. Requests with it fail immediately.
 *
 * @category control plane
 * @since 0.1.0
 */
export const revokeApiKey: Lifted<typeof ApiKeys.revokeApiKey> = /* @__PURE__ */ lift(ApiKeys.revokeApiKey, 2)

/**
 * Creates an organization.
 *
 * @category control plane
 * @since 0.1.0
 */
export const createOrganization: Lifted<typeof Organizations.createOrganization> = /* @__PURE__ */ lift(
  Organizations.createOrganization,
  2
)

/**
 * Returns one page of the organizations of the account, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listOrganizations: LiftedList<typeof Organizations.listOrganizations> = /* @__PURE__ */ liftList(
  Organizations.listOrganizations,
  1
)

/**
 * Returns an organization.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getOrganization: Lifted<typeof Organizations.getOrganization> = /* @__PURE__ */ lift(
  Organizations.getOrganization,
  2
)

/**
 * Changes an organization. Members that are left out are unchanged.
 *
 * @category control plane
 * @since 0.1.0
 */
export const updateOrganization: Lifted<typeof Organizations.updateOrganization> = /* @__PURE__ */ lift(
  Organizations.updateOrganization,
  3
)

/**
 * Stores the credential of an organization for the national system. Replaces an existing one.
 *
 * @category control plane
 * @since 0.1.0
 */
export const setGatewayCredential: Lifted<typeof Organizations.setGatewayCredential> = /* @__PURE__ */ lift(
  Organizations.setGatewayCredential,
  3
)

/**
 * Returns the credential of an organization for the national system, without its secrets: until when it is valid, and whether
 * the national system accepts it.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getGatewayCredential: Lifted<typeof Organizations.getGatewayCredential> = /* @__PURE__ */ lift(
  Organizations.getGatewayCredential,
  2
)

/**
 * Deletes the credential of an organization for the national system.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteGatewayCredential: Lifted<typeof Organizations.deleteGatewayCredential> = /* @__PURE__ */ lift(
  Organizations.deleteGatewayCredential,
  2
)

/**
 * Stores the certificate with which an organization issues invoices offline. Replaces an existing one.
 *
 * @category control plane
 * @since 0.1.0
 */
export const setOfflineCertificate: Lifted<typeof Organizations.setOfflineCertificate> = /* @__PURE__ */ lift(
  Organizations.setOfflineCertificate,
  3
)

/**
 * Returns the certificate with which an organization issues invoices offline, without its private key.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getOfflineCertificate: Lifted<typeof Organizations.getOfflineCertificate> = /* @__PURE__ */ lift(
  Organizations.getOfflineCertificate,
  2
)

/**
 * Deletes the certificate with which an organization issues invoices offline.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteOfflineCertificate: Lifted<typeof Organizations.deleteOfflineCertificate> = /* @__PURE__ */ lift(
  Organizations.deleteOfflineCertificate,
  2
)

/**
 * Returns one page of the invoices of an organization, newest first.
 *
 * **Example** (Reading all pages as a stream)
 *
 * ```ts
 * import { createSession, listInvoices } from "@govoice/client/effect"
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as Stream from "effect/Stream"
 *
 * const session = createSession({ baseUrl: "https://api.example.com" })
 *
 * export const invoices = (organizationId: string) =>
 *   Stream.paginate(undefined as string | undefined, (cursor) =>
 *     Effect.map(
 *       listInvoices(session, organizationId, { cursor, limit: 100 }),
 *       ({ data, nextCursor }) => [data, Option.fromNullOr(nextCursor)] as const
 *     )
 *   )
 * ```
 *
 * @category control plane
 * @since 0.1.0
 */
export const listInvoices: LiftedList<typeof Organizations.listInvoices> = /* @__PURE__ */ liftList(
  Organizations.listInvoices,
  2
)

/**
 * Returns an invoice of an organization, of either mode.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getOrganizationInvoice: Lifted<typeof Organizations.getOrganizationInvoice> = /* @__PURE__ */ lift(
  Organizations.getOrganizationInvoice,
  3
)

/**
 * Downloads the official receipt (UPO) of an invoice of an organization. Succeeds after all of it was read.
 *
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationUpo: Lifted<typeof Organizations.downloadOrganizationUpo> = /* @__PURE__ */ lift(
  Organizations.downloadOrganizationUpo,
  3
)

/**
 * Downloads the document of an invoice of an organization as it was submitted, byte for byte. Succeeds after all of it was read.
 *
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationDocument: Lifted<typeof Organizations.downloadOrganizationDocument> =
  /* @__PURE__ */ lift(Organizations.downloadOrganizationDocument, 3)

/**
 * Draws an invoice of an organization as a PDF. It is a visualization; the invoice is the document.
 *
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationPdf: Lifted<typeof Organizations.downloadOrganizationPdf> = /* @__PURE__ */ lift(
  Organizations.downloadOrganizationPdf,
  3
)

/**
 * Draws a QR code that the seller prints on an invoice of an organization, with the text that belongs below it.
 *
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationQr: Lifted<typeof Organizations.downloadOrganizationQr> = /* @__PURE__ */ lift(
  Organizations.downloadOrganizationQr,
  3
)

/**
 * Counts the deliveries and invoices of an organization. The service keeps counts for 30 seconds.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getOverview: Lifted<typeof Organizations.getOverview> = /* @__PURE__ */ lift(Organizations.getOverview, 2)

/**
 * Returns what is known of the live mode of an organization: what waits, what is not decided, what is used of the limits.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getLiveStatus: Lifted<typeof Organizations.getLiveStatus> = /* @__PURE__ */ lift(
  Organizations.getLiveStatus,
  2
)
