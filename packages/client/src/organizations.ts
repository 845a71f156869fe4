/**
 * The control plane: organizations, their credential for the national system, and their invoices.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { invoice, organization } from "./internal/kinds.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import { type List, list, type ListOptions } from "./list.ts"
import type {
  GatewayCredential,
  Invoice,
  InvoiceStatus,
  Known,
  Mode,
  Organization,
  OrganizationChange,
  OrganizationRequest
} from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/** Which invoices a list has, and how it is read. */
export interface InvoiceListOptions extends ListOptions {
  /** Only invoices that have this status. */
  readonly status?: Known<InvoiceStatus> | undefined
  /** Only invoices of this mode. */
  readonly mode?: Known<Mode> | undefined
}

/** Makes an organization. */
export const createOrganization: (
  session: ControlPlaneConnection,
  input: OrganizationRequest,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withBody("POST", "organizations", organization)

/** The organizations of the account, newest first. */
export const listOrganizations: (session: ControlPlaneConnection, options?: ListOptions) => List<Organization> =
  /* @__PURE__ */ list("organizations", organization)

/** Shows an organization. */
export const getOrganization: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withoutBody("organizations/*", organization)

/** Changes an organization. */
export const updateOrganization: (
  session: ControlPlaneConnection,
  id: string,
  change: OrganizationChange,
  options?: CallOptions
) => Promise<Organization> = /* @__PURE__ */ withBody("PATCH", "organizations/*", organization)

/** Stores the credential of an organization for the national system, in place of one that is stored already. */
export const setGatewayCredential: (
  session: ControlPlaneConnection,
  organizationId: string,
  credential: GatewayCredential,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withBody("PUT", "organizations/*/gateway-credential")

/** Removes the credential of an organization for the national system. */
export const deleteGatewayCredential: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withoutBody("organizations/*/gateway-credential", "", "DELETE")

/** The invoices of an organization, newest first. */
export const listInvoices: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: InvoiceListOptions
) => List<Invoice> = /* @__PURE__ */ list("organizations/*/invoices", invoice)
