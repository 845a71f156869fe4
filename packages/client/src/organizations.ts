/**
 * The control plane operations of organizations, their gateway credential and their invoices.
 *
 * @module
 * @since 0.1.0
 */
import { withBody, withoutBody } from "./internal/operation.ts"
import {
  gatewayCredential,
  invoice,
  liveStatus,
  organization,
  organizationOverview,
  verificationLink
} from "./internal/schemas.ts"
import { readUpo, type Upo } from "./upo.ts"
import { type List, list, type ListOptions } from "./list.ts"
import type { CallOptions } from "./options.ts"
import type {
  GatewayCredential,
  GatewayCredentialRequest,
  Invoice,
  InvoiceStatus,
  Known,
  LiveStatus,
  Mode,
  Organization,
  OrganizationChange,
  OrganizationOverview,
  OrganizationRequest,
  StatisticsWindow,
  VerificationLink
} from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * The filters and options of a list of invoices.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceListOptions extends ListOptions {
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
) => Promise<Upo> = /* @__PURE__ */ withoutBody("organizations/*/invoices/*/upo", readUpo)

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
  { window = "24h", ...options }: OverviewOptions = {}
): Promise<OrganizationOverview> => overviews[window](session, organizationId, options)

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

/**
 * Returns the link with which anybody can check an accepted live invoice at the national system (KOD I).
 *
 * @category control plane
 * @since 0.1.0
 */
export const getVerificationLink: (
  session: ControlPlaneConnection,
  organizationId: string,
  id: string,
  options?: CallOptions
) => Promise<VerificationLink> = /* @__PURE__ */ withoutBody(
  "organizations/*/invoices/*/verification-link",
  verificationLink
)
