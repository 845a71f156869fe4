/**
 * The control plane as one object, for those who want methods.
 *
 * @module
 */
import { createAccount, getAccount } from "./accounts.ts"
import { createApiKey, listApiKeys, revokeApiKey } from "./apiKeys.ts"
import type { CallOptions, ConnectionOptions } from "./connection.ts"
import { bind } from "./internal/bind.ts"
import {
  createOrganization,
  deleteGatewayCredential,
  getOrganization,
  type InvoiceListOptions,
  listInvoices,
  listOrganizations,
  setGatewayCredential,
  updateOrganization
} from "./organizations.ts"
import type { List, ListOptions } from "./list.ts"
import type {
  Account,
  ApiKey,
  ApiKeyRequest,
  GatewayCredential,
  Invoice,
  NewAccount,
  NewApiKey,
  NewWebhookEndpoint,
  Organization,
  OrganizationChange,
  OrganizationRequest,
  RotatedWebhookEndpoint,
  SecretRotation,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest
} from "./records.ts"
import { createSession, type Session } from "./session.ts"
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  type DeliveryListOptions,
  getWebhookEndpoint,
  listDeliveries,
  listWebhookEndpoints,
  rotateWebhookSecret,
  updateWebhookEndpoint
} from "./webhookEndpoints.ts"

/** The control plane. Each method is the function with the longer name, and may be taken off the object. */
export interface ControlPlane extends Session {
  readonly accounts: {
    /** Makes an account: see `createAccount`. */
    readonly create: (input: NewAccount, options?: CallOptions) => Promise<Account>
    /** Shows the account that is logged in. */
    readonly get: (options?: CallOptions) => Promise<Account>
  }

  readonly organizations: {
    /** Makes an organization. */
    readonly create: (input: OrganizationRequest, options?: CallOptions) => Promise<Organization>
    /** The organizations of the account, newest first. */
    readonly list: (options?: ListOptions) => List<Organization>
    /** Shows an organization. */
    readonly get: (id: string, options?: CallOptions) => Promise<Organization>
    /** Changes an organization. */
    readonly update: (id: string, change: OrganizationChange, options?: CallOptions) => Promise<Organization>
    /** Stores the credential for the national system. */
    readonly setGatewayCredential: (id: string, credential: GatewayCredential, options?: CallOptions) => Promise<void>
    /** Removes the credential for the national system. */
    readonly deleteGatewayCredential: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly apiKeys: {
    /** Makes an API key. Its `secret` is shown this once. */
    readonly create: (organizationId: string, input: ApiKeyRequest, options?: CallOptions) => Promise<NewApiKey>
    /** The API keys that are not revoked, newest first. */
    readonly list: (organizationId: string, options?: ListOptions) => List<ApiKey>
    /** Revokes an API key, at once. */
    readonly revoke: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly webhookEndpoints: {
    /** Makes a webhook endpoint. Its signing `secret` is shown this once. */
    readonly create: (
      organizationId: string,
      input: WebhookEndpointRequest,
      options?: CallOptions
    ) => Promise<NewWebhookEndpoint>
    /** The webhook endpoints of an organization, newest first. */
    readonly list: (organizationId: string, options?: ListOptions) => List<WebhookEndpoint>
    /** Shows a webhook endpoint. */
    readonly get: (id: string, options?: CallOptions) => Promise<WebhookEndpoint>
    /** Changes a webhook endpoint. */
    readonly update: (id: string, change: WebhookEndpointChange, options?: CallOptions) => Promise<WebhookEndpoint>
    /** Makes a new signing secret, shown this once: see `rotateWebhookSecret`. */
    readonly rotateSecret: (
      id: string,
      rotation?: SecretRotation,
      options?: CallOptions
    ) => Promise<RotatedWebhookEndpoint>
    /** Deletes a webhook endpoint. */
    readonly delete: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly invoices: {
    /** The invoices of an organization, newest first. */
    readonly list: (organizationId: string, options?: InvoiceListOptions) => List<Invoice>
  }

  readonly deliveries: {
    /** What became of the deliveries to a webhook endpoint, newest first: see `listDeliveries`. */
    readonly list: (endpointId: string, options?: DeliveryListOptions) => List<WebhookDelivery>
  }
}

/**
 * A client of the control plane: what an owner sets up, once.
 *
 * **Example** (From an account to an API key)
 *
 * ```ts
 * import { createControlPlane } from "@govoice/client"
 *
 * const controlPlane = createControlPlane({ baseUrl: "https://api.example.com" })
 *
 * await controlPlane.login({ email: "owner@example.com", password: "correct horse battery staple" })
 * const { id } = await controlPlane.organizations.create({ name: "Sprzedawca Testowy" })
 * const { secret } = await controlPlane.apiKeys.create(id, { mode: "test" })
 * ```
 *
 * @throws {TypeError} when `baseUrl` cannot be one.
 */
export const createControlPlane = (options: ConnectionOptions): ControlPlane => {
  const session = createSession(options)
  return {
    ...session,
    accounts: { create: bind(session, createAccount), get: bind(session, getAccount) },
    organizations: {
      create: bind(session, createOrganization),
      list: bind(session, listOrganizations),
      get: bind(session, getOrganization),
      update: bind(session, updateOrganization),
      setGatewayCredential: bind(session, setGatewayCredential),
      deleteGatewayCredential: bind(session, deleteGatewayCredential)
    },
    apiKeys: {
      create: bind(session, createApiKey),
      list: bind(session, listApiKeys),
      revoke: bind(session, revokeApiKey)
    },
    webhookEndpoints: {
      create: bind(session, createWebhookEndpoint),
      list: bind(session, listWebhookEndpoints),
      get: bind(session, getWebhookEndpoint),
      update: bind(session, updateWebhookEndpoint),
      rotateSecret: bind(session, rotateWebhookSecret),
      delete: bind(session, deleteWebhookEndpoint)
    },
    invoices: { list: bind(session, listInvoices) },
    deliveries: { list: bind(session, listDeliveries) }
  }
}
