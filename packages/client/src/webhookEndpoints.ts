/**
 * The control plane: webhook endpoints, and what became of the deliveries to them.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { newWebhookEndpoint, rotatedWebhookEndpoint, webhookDelivery, webhookEndpoint } from "./internal/kinds.ts"
import { operation } from "./internal/operation.ts"
import { pages } from "./internal/pages.ts"
import { segment } from "./internal/paths.ts"
import type { ListOptions } from "./organizations.ts"
import type {
  DeliveryStatus,
  Known,
  NewWebhookEndpoint,
  RotatedWebhookEndpoint,
  SecretRotation,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest
} from "./records.ts"
import type { Session } from "./session.ts"

/** Which deliveries a list has, and how it is read. */
export interface DeliveryListOptions extends ListOptions {
  /** Only deliveries that have this status. */
  readonly status?: Known<DeliveryStatus> | undefined
  /** Only deliveries of this event, `evt_…`. */
  readonly eventId?: string | undefined
}

const path = "/webhook-endpoints"

/**
 * Makes a webhook endpoint. Its signing `secret` is shown this once.
 *
 * @throws {AnyGovoiceError} an `ApiError` `unsafe_webhook_url` when events cannot be sent there.
 */
export const createWebhookEndpoint = (
  session: Session,
  organizationId: string,
  input: WebhookEndpointRequest,
  options?: CallOptions
): Promise<NewWebhookEndpoint> =>
  operation(session, "POST", `/organizations${segment(organizationId)}${path}`, options, newWebhookEndpoint, input)

/** The webhook endpoints of an organization, newest first. */
export const listWebhookEndpoints = (
  session: Session,
  organizationId: string,
  options?: ListOptions
): AsyncIterable<WebhookEndpoint> =>
  pages(session, `/organizations${segment(organizationId)}${path}`, webhookEndpoint, options)

/** Shows a webhook endpoint. */
export const getWebhookEndpoint = (session: Session, id: string, options?: CallOptions): Promise<WebhookEndpoint> =>
  operation(session, "GET", path + segment(id), options, webhookEndpoint)

/** Changes a webhook endpoint. */
export const updateWebhookEndpoint = (
  session: Session,
  id: string,
  change: WebhookEndpointChange,
  options?: CallOptions
): Promise<WebhookEndpoint> => operation(session, "PATCH", path + segment(id), options, webhookEndpoint, change)

/** Makes a new signing secret, shown this once. The old one signs until `secretActivatesAt`. */
export const rotateWebhookSecret = (
  session: Session,
  id: string,
  rotation: SecretRotation = {},
  options?: CallOptions
): Promise<RotatedWebhookEndpoint> =>
  operation(session, "POST", `${path}${segment(id)}/rotate-secret`, options, rotatedWebhookEndpoint, rotation)

/** Deletes a webhook endpoint. What was not delivered to it yet ends as `endpoint_disabled`. */
export const deleteWebhookEndpoint = (session: Session, id: string, options?: CallOptions): Promise<void> =>
  operation(session, "DELETE", path + segment(id), options)

/**
 * What became of the deliveries to a webhook endpoint, newest first.
 *
 * **Gotchas**
 *
 * The same event may be in more than one record: reconcile by `eventId`.
 */
export const listDeliveries = (
  session: Session,
  endpointId: string,
  options?: DeliveryListOptions
): AsyncIterable<WebhookDelivery> =>
  pages(session, `${path}${segment(endpointId)}/deliveries`, webhookDelivery, options)
