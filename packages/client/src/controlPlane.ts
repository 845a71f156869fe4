/**
 * The control plane as one object with methods.
 *
 * @module
 * @since 0.1.0
 */
import { createAccount, getAccount } from "./accounts.ts"
import { createApiKey, listApiKeys, revokeApiKey } from "./apiKeys.ts"
import { bind } from "./internal/bind.ts"
import {
  createOrganization,
  deleteGatewayCredential,
  deleteOfflineCertificate,
  getGatewayCredential,
  getOfflineCertificate,
  getOrganization,
  type InvoiceListOptions,
  listInvoices,
  listOrganizations,
  setGatewayCredential,
  setOfflineCertificate,
  updateOrganization
} from "./organizations.ts"
import type { List, ListOptions } from "./list.ts"
import type { CallOptions, ConnectionOptions } from "./options.ts"
import type {
  Account,
  ApiKey,
  ApiKeyRequest,
  GatewayCredential,
  GatewayCredentialRequest,
  Invoice,
  NewAccount,
  NewApiKey,
  NewWebhookEndpoint,
  OfflineCertificate,
  OfflineCertificateRequest,
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

/**
 * The control plane. The methods do not use `this`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ControlPlane extends Session {
  readonly accounts: {
    /**
     * Creates an account. Does not log in.
     *
     * @throws {AnyGovoiceError} such as an `ApiError` with code `email_taken` or `signup_disabled`.
     */
    readonly create: (input: NewAccount, options?: CallOptions) => Promise<Account>
    /** Returns the account of the login. */
    readonly get: (options?: CallOptions) => Promise<Account>
  }

  readonly organizations: {
    /** Creates an organization. */
    readonly create: (input: OrganizationRequest, options?: CallOptions) => Promise<Organization>
    /** Lists the organizations of the account, newest first. */
    readonly list: (options?: ListOptions) => List<Organization>
    /**
     * Returns an organization.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `organization_not_found` if there is no such organization in the
     * account.
     */
    readonly get: (id: string, options?: CallOptions) => Promise<Organization>
    /** Changes an organization. Members that are left out are unchanged. */
    readonly update: (id: string, change: OrganizationChange, options?: CallOptions) => Promise<Organization>
    /** Stores the credential of an organization for the national system. Replaces an existing one. */
    readonly setGatewayCredential: (
      id: string,
      credential: GatewayCredentialRequest,
      options?: CallOptions
    ) => Promise<void>
    /** Returns the credential without its secrets: until when it is valid, and whether the national system accepts it. */
    readonly getGatewayCredential: (id: string, options?: CallOptions) => Promise<GatewayCredential>
    /** Deletes the credential of an organization for the national system. */
    readonly deleteGatewayCredential: (id: string, options?: CallOptions) => Promise<void>
    /** Stores the certificate with which an organization issues invoices offline. Replaces an existing one. */
    readonly setOfflineCertificate: (
      id: string,
      certificate: OfflineCertificateRequest,
      options?: CallOptions
    ) => Promise<void>
    /** Returns the certificate with which an organization issues invoices offline, without its private key. */
    readonly getOfflineCertificate: (id: string, options?: CallOptions) => Promise<OfflineCertificate>
    /** Deletes the certificate with which an organization issues invoices offline. */
    readonly deleteOfflineCertificate: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly apiKeys: {
    /**
     * Creates an API key. Only this response contains its `secret`.
     *
     * @throws {AnyGovoiceError} such as an `ApiError` with code `limit_reached`.
     */
    readonly create: (organizationId: string, input: ApiKeyRequest, options?: CallOptions) => Promise<NewApiKey>
    /** Lists the API keys of an organization that are not revoked, newest first. */
    readonly list: (organizationId: string, options?: ListOptions) => List<ApiKey>
    /** Revokes an API key. Requests with it fail immediately. */
    readonly revoke: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly webhookEndpoints: {
    /**
     * Creates a webhook endpoint. Only this response contains its signing `secret`.
     *
     * @throws {AnyGovoiceError} such as an `ApiError` with code `unsafe_webhook_url` or `limit_reached`.
     */
    readonly create: (
      organizationId: string,
      input: WebhookEndpointRequest,
      options?: CallOptions
    ) => Promise<NewWebhookEndpoint>
    /** Lists the webhook endpoints of an organization, newest first. */
    readonly list: (organizationId: string, options?: ListOptions) => List<WebhookEndpoint>
    /**
     * Returns a webhook endpoint.
     *
     * @throws {AnyGovoiceError} an `ApiError` with code `webhook_endpoint_not_found` if there is no such endpoint in the
     * account.
     */
    readonly get: (id: string, options?: CallOptions) => Promise<WebhookEndpoint>
    /** Changes a webhook endpoint. Members that are left out are unchanged. */
    readonly update: (id: string, change: WebhookEndpointChange, options?: CallOptions) => Promise<WebhookEndpoint>
    /** Rotates the signing secret. Only this response contains the new one. The old one signs until `secretActivatesAt`. */
    readonly rotateSecret: (
      id: string,
      rotation?: SecretRotation,
      options?: CallOptions
    ) => Promise<RotatedWebhookEndpoint>
    /** Deletes a webhook endpoint. Its pending deliveries become `endpoint_disabled`. */
    readonly delete: (id: string, options?: CallOptions) => Promise<void>
  }

  readonly invoices: {
    /** Lists the invoices of an organization, newest first. */
    readonly list: (organizationId: string, options?: InvoiceListOptions) => List<Invoice>
  }

  readonly deliveries: {
    /** Lists the deliveries of a webhook endpoint, newest first. An event may occur more than once: reconcile by `eventId`. */
    readonly list: (endpointId: string, options?: DeliveryListOptions) => List<WebhookDelivery>
  }
}

/**
 * Creates a client of the control plane.
 *
 * **Example** (Creating an API key)
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
 * @throws {TypeError} if an option is unknown or invalid.
 * @category constructors
 * @since 0.1.0
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
      getGatewayCredential: bind(session, getGatewayCredential),
      deleteGatewayCredential: bind(session, deleteGatewayCredential),
      setOfflineCertificate: bind(session, setOfflineCertificate),
      getOfflineCertificate: bind(session, getOfflineCertificate),
      deleteOfflineCertificate: bind(session, deleteOfflineCertificate)
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
