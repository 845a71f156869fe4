/**
 * The control plane: organizations, their credential for the national system, and their invoices.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { invoice, organization } from "./internal/kinds.ts"
import { operation } from "./internal/operation.ts"
import { pages } from "./internal/pages.ts"
import { segment } from "./internal/paths.ts"
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
import type { Session } from "./session.ts"

/** How a list is read. The bounds are those of each page. */
export interface ListOptions extends CallOptions {
  /**
   * How many records a page has, from 1 to 100. The list goes on past it, page by page.
   *
   * @default 50
   */
  readonly limit?: number | undefined
}

/** Which invoices a list has, and how it is read. */
export interface InvoiceListOptions extends ListOptions {
  /** Only invoices that have this status. */
  readonly status?: Known<InvoiceStatus> | undefined
  /** Only invoices of this mode. */
  readonly mode?: Known<Mode> | undefined
}

const path = "/organizations"

/** Makes an organization. */
export const createOrganization = (
  session: Session,
  input: OrganizationRequest,
  options?: CallOptions
): Promise<Organization> => operation(session, "POST", path, options, organization, input)

/** The organizations of the account, newest first. */
export const listOrganizations = (session: Session, options?: ListOptions): AsyncIterable<Organization> =>
  pages(session, path, organization, options)

/** Shows an organization. */
export const getOrganization = (session: Session, id: string, options?: CallOptions): Promise<Organization> =>
  operation(session, "GET", path + segment(id), options, organization)

/** Changes an organization. */
export const updateOrganization = (
  session: Session,
  id: string,
  change: OrganizationChange,
  options?: CallOptions
): Promise<Organization> => operation(session, "PATCH", path + segment(id), options, organization, change)

/** Stores the credential of an organization for the national system, in place of one that is stored already. */
export const setGatewayCredential = (
  session: Session,
  organizationId: string,
  credential: GatewayCredential,
  options?: CallOptions
): Promise<void> =>
  operation(session, "PUT", `${path}${segment(organizationId)}/gateway-credential`, options, undefined, credential)

/** Removes the credential of an organization for the national system. */
export const deleteGatewayCredential = (
  session: Session,
  organizationId: string,
  options?: CallOptions
): Promise<void> => operation(session, "DELETE", `${path}${segment(organizationId)}/gateway-credential`, options)

/** The invoices of an organization, newest first. */
export const listInvoices = (
  session: Session,
  organizationId: string,
  options?: InvoiceListOptions
): AsyncIterable<Invoice> => pages(session, `${path}${segment(organizationId)}/invoices`, invoice, options)
