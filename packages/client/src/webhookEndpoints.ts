/**
 * The control plane operations of webhook endpoints and their deliveries.
 *
 * @module
 * @since 0.1.0
 */
import { callOptions, checkOptions } from "./internal/checkOptions.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import {
  newWebhookEndpoint,
  rotatedWebhookEndpoint,
  webhookDelivery,
  webhookDeliveryStats,
  webhookEndpoint
} from "./internal/schemas.ts"
import { type List, list, type ListOptions } from "./list.ts"
import type { CallOptions } from "./options.ts"
import type {
  DeliveryStatus,
  EventType,
  Known,
  NewWebhookEndpoint,
  RotatedWebhookEndpoint,
  SecretRotation,
  StatisticsWindow,
  WebhookDelivery,
  WebhookDeliveryStats,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest
} from "./records.ts"
import type { ControlPlaneConnection } from "./session.ts"

/**
 * The filters and options of a list of deliveries.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveryListOptions extends ListOptions {
  /** Only deliveries with this status. */
  readonly status?: Known<DeliveryStatus> | undefined
  /** Only deliveries of events of this type. */
  readonly eventType?: Known<EventType> | undefined
  /** Only deliveries of this event, `evt_…`. */
  readonly eventId?: string | undefined
  /** Only deliveries of the events of this invoice, `inv_…`. */
  readonly invoiceId?: string | undefined
  /** Only deliveries that were created at this time or later, ISO 8601 in UTC. */
  readonly createdAfter?: string | undefined
  /** Only deliveries that were created before this time, ISO 8601 in UTC. */
  readonly createdBefore?: string | undefined
}

/**
 * Creates a webhook endpoint. Only this response contains its signing `secret`.
 *
 * @throws {AnyGovoiceError} such as an `ApiError` with code `unsafe_webhook_url` or `limit_reached`.
 * @category control plane
 * @since 0.1.0
 */
export const createWebhookEndpoint: (
  session: ControlPlaneConnection,
  organizationId: string,
  input: WebhookEndpointRequest,
  options?: CallOptions
) => Promise<NewWebhookEndpoint> = /* @__PURE__ */ withBody(
  "POST",
  "organizations/*/webhook-endpoints",
  newWebhookEndpoint
)

/**
 * Lists the webhook endpoints of an organization, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listWebhookEndpoints: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: ListOptions
) => List<WebhookEndpoint> = /* @__PURE__ */ list("organizations/*/webhook-endpoints", webhookEndpoint)

/**
 * Returns a webhook endpoint.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `webhook_endpoint_not_found` if there is no such endpoint in the account.
 * @category control plane
 * @since 0.1.0
 */
export const getWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<WebhookEndpoint> = /* @__PURE__ */ withoutBody("webhook-endpoints/*", webhookEndpoint)

/**
 * Changes a webhook endpoint. Members that are left out are unchanged.
 *
 * @category control plane
 * @since 0.1.0
 */
export const updateWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  change: WebhookEndpointChange,
  options?: CallOptions
) => Promise<WebhookEndpoint> = /* @__PURE__ */ withBody("PATCH", "webhook-endpoints/*", webhookEndpoint)

/**
 * Rotates the signing secret. Only this response contains the new one. The old one signs until `secretActivatesAt`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const rotateWebhookSecret: (
  session: ControlPlaneConnection,
  id: string,
  rotation?: SecretRotation,
  options?: CallOptions
) => Promise<RotatedWebhookEndpoint> = /* @__PURE__ */ withBody(
  "POST",
  "webhook-endpoints/*/rotate-secret",
  rotatedWebhookEndpoint
)

/**
 * Deletes a webhook endpoint. Its pending deliveries become `endpoint_disabled`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withoutBody("webhook-endpoints/*", "", "DELETE")

/**
 * Lists the deliveries of a webhook endpoint, newest first.
 *
 * **Gotchas**
 *
 * The same event may occur in more than one record: reconcile by `eventId`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listDeliveries: (
  session: ControlPlaneConnection,
  endpointId: string,
  options?: DeliveryListOptions
) => List<WebhookDelivery> = /* @__PURE__ */ list("webhook-endpoints/*/deliveries", webhookDelivery)

/**
 * Returns a delivery of a webhook endpoint.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `webhook_delivery_not_found` if the endpoint has no such delivery.
 * @category control plane
 * @since 0.1.0
 */
export const getDelivery: (
  session: ControlPlaneConnection,
  endpointId: string,
  id: string,
  options?: CallOptions
) => Promise<WebhookDelivery> = /* @__PURE__ */ withoutBody("webhook-endpoints/*/deliveries/*", webhookDelivery)

/**
 * Lists the deliveries of all webhook endpoints of an organization that are not deleted, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listOrganizationDeliveries: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: DeliveryListOptions
) => List<WebhookDelivery> = /* @__PURE__ */ list("organizations/*/deliveries", webhookDelivery)

/**
 * The options of `getDeliveryStats`.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeliveryStatsOptions extends CallOptions {
  /**
   * The time to count over.
   *
   * @default "24h"
   */
  readonly window?: Known<StatisticsWindow> | undefined
}

/**
 * Counts the deliveries of a webhook endpoint over time, for a chart. The service keeps counts for 30 seconds.
 *
 * @throws {AnyGovoiceError} an `ApiError` with code `rate_limit_exceeded` if the account asks more than twice a second.
 * @category control plane
 * @since 0.1.0
 */
export const getDeliveryStats = (
  session: ControlPlaneConnection,
  endpointId: string,
  options?: DeliveryStatsOptions
): Promise<WebhookDeliveryStats> => {
  const { window = "24h", ...limits } = checkOptions(options, `window ${callOptions}`)
  return read[window](session, endpointId, limits)
}

const read: Record<
  Known<StatisticsWindow>,
  (session: ControlPlaneConnection, endpointId: string, options: CallOptions) => Promise<WebhookDeliveryStats>
> = {
  "24h": /* @__PURE__ */ withoutBody("webhook-endpoints/*/delivery-stats?window=24h", webhookDeliveryStats),
  "7d": /* @__PURE__ */ withoutBody("webhook-endpoints/*/delivery-stats?window=7d", webhookDeliveryStats)
}
