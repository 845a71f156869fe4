/**
 * The control plane operations of organizations, their gateway credential and their invoices.
 *
 * @module
 * @since 0.1.0
 */
import { callOptions, checkOptions } from "./internal/checkOptions.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import {
  gatewayCredential,
  invoice,
  liveStatus,
  offlineCertificate,
  organization,
  organizationOverview
} from "./internal/schemas.ts"
import { type Download, qr, type QrOptions, readFile } from "./download.ts"
import { type InvoiceNames, type List, list, type ListOptions } from "./list.ts"
import type { CallOptions } from "./options.ts"
import type {
  GatewayCredential,
  GatewayCredentialRequest,
  Invoice,
  InvoiceStatus,
  Known,
  LiveStatus,
  Mode,
  OfflineCertificate,
  OfflineCertificateRequest,
  Organization,
  OrganizationChange,
  OrganizationOverview,
  OrganizationRequest,
  StatisticsWindow
} from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * The filters and options of a list of invoices.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceListOptions extends ListOptions, InvoiceNames {
  /** Only invoices with this status. */
  readonly status?: Known<InvoiceStatus> | undefined
  /** Only invoices of this mode. */
  readonly mode?: Known<Mode> | undefined
  /** Only invoices that were created at this time or later, ISO 8601 in UTC. */
  readonly createdAfter?: string | undefined
  /** Only invoices that were created before this time, ISO 8601 in UTC. */
  readonly createdBefore?: string | undefined
  /** Only the invoice of this event, `evt_…`. */
  readonly eventId?: string | undefined
  /** Only the invoice that was submitted with this idempotency key. Requires `mode`. */
  readonly idempotencyKey?: string | undefined
}

/**
 * Creates an organization.
 *
 * @category control plane
 * @since 0.1.0
 */
export const createOrganization: (
  session: ControlPlaneConnection,
  input: OrganizationRequest,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withBody("POST", "organizations", organization)

/**
 * Lists the organizations of the account, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listOrganizations: (session: ControlPlaneConnection, options?: ListOptions) => List<Organization> =
  /* @__PURE__ */ list("organizations", organization)

/**
 * Returns an organization.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `organization_not_found` if there is no such organization in the account.
 * @category control plane
 * @since 0.1.0
 */
export const getOrganization: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withoutBody("organizations/*", organization)

/**
 * Changes an organization. Members that are left out are unchanged.
 *
 * @category control plane
 * @since 0.1.0
 */
export const updateOrganization: (
  session: ControlPlaneConnection,
  id: string,
  change: OrganizationChange,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withBody("PATCH", "organizations/*", organization)

/**
 * Stores the credential of an organization for the national system. Replaces an existing one.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invalid_parameter` if a certificate and its key cannot be used.
 * @category control plane
 * @since 0.1.0
 */
export const setGatewayCredential: (
  session: ControlPlaneConnection,
  organizationId: string,
  credential: GatewayCredentialRequest,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withBody("PUT", "organizations/*/gateway-credential")

/**
 * Returns the credential of an organization for the national system, without its secrets: until when it is valid, and whether
 * the national system accepts it.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getGatewayCredential: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<GatewayCredential> = /* @__PURE__ */ withoutBody("organizations/*/gateway-credential", gatewayCredential)

/**
 * Deletes the credential of an organization for the national system.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteGatewayCredential: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withoutBody("organizations/*/gateway-credential", "", "DELETE")

/**
 * Stores the certificate with which an organization issues invoices offline. Replaces an existing one.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invalid_parameter` if the certificate and its key cannot be used.
 * @category control plane
 * @since 0.1.0
 */
export const setOfflineCertificate: (
  session: ControlPlaneConnection,
  organizationId: string,
  certificate: OfflineCertificateRequest,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withBody("PUT", "organizations/*/offline-certificate")

/**
 * Returns the certificate with which an organization issues invoices offline, without its private key.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getOfflineCertificate: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<OfflineCertificate> = /* @__PURE__ */ withoutBody(
  "organizations/*/offline-certificate",
  offlineCertificate
)

/**
 * Deletes the certificate with which an organization issues invoices offline.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteOfflineCertificate: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withoutBody("organizations/*/offline-certificate", "", "DELETE")

/**
 * Lists the invoices of an organization, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listInvoices: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: InvoiceListOptions
) => List<Invoice> = /* @__PURE__ */ list("organizations/*/invoices", invoice)

/**
 * Returns an invoice of an organization, of either mode.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice in the organization.
 * @category control plane
 * @since 0.1.0
 */
export const getOrganizationInvoice: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: CallOptions
) => Promise<Invoice> = /* @__PURE__ */ withoutBody("organizations/*/invoices/*", invoice)

/**
 * Downloads the official receipt (UPO) of an invoice of an organization. Resolves after all of it was read.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `upo_not_available` if there is no receipt yet.
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationUpo: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: CallOptions
) => Promise<Download> = /* @__PURE__ */ withoutBody("organizations/*/invoices/*/upo", readFile)

/**
 * Downloads the document of an invoice of an organization as it was submitted, byte for byte. Resolves after all of it was read.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `invoice_not_found` if there is no such invoice in the organization.
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationDocument: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: CallOptions
) => Promise<Download> = /* @__PURE__ */ withoutBody("organizations/*/invoices/*/document", readFile)

/**
 * Draws an invoice of an organization as a PDF. It is a visualization; the invoice is the document.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `pdf_not_available` if no PDF is made of this document.
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationPdf: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: CallOptions
) => Promise<Download> = /* @__PURE__ */ withoutBody("organizations/*/invoices/*/pdf", readFile)

/**
 * Draws a QR code that the seller prints on an invoice of an organization, with the text that belongs below it.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `verification_not_available` if the invoice has no such code.
 * @category control plane
 * @since 0.1.0
 */
export const downloadOrganizationQr: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: QrOptions
) => Promise<Download> = /* @__PURE__ */ qr("organizations/*/invoices/*")

/**
 * The options of `getOverview`.
 *
 * @category models
 * @since 0.1.0
 */
export interface OverviewOptions extends CallOptions {
  /**
   * The time to count deliveries over.
   *
   * @default "24h"
   */
  readonly window?: Known<StatisticsWindow> | undefined
}

/**
 * Counts the deliveries and invoices of an organization. The service keeps counts for 30 seconds.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `rate_limit_exceeded` if the account asks more than twice a second.
 * @category control plane
 * @since 0.1.0
 */
export const getOverview = (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: OverviewOptions
): Promise<OrganizationOverview> => {
  const { window = "24h", ...limits } = checkOptions(options, `window ${callOptions}`)
  return overviews[window](session, organizationId, limits)
}

const overviews: Record<
  Known<StatisticsWindow>,
  (session: ControlPlaneConnection, organizationId: string, options: CallOptions) => Promise<OrganizationOverview>
> = {
  "24h": /* @__PURE__ */ withoutBody("organizations/*/overview?window=24h", organizationOverview),
  "7d": /* @__PURE__ */ withoutBody("organizations/*/overview?window=7d", organizationOverview)
}

/**
 * Returns what is known of the live mode of an organization: what waits, what is not decided, what is used of the limits.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getLiveStatus: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<LiveStatus> = /* @__PURE__ */ withoutBody("organizations/*/live-status", liveStatus)
