/**
 * The operations of webhook endpoints and their deliveries as Effects.
 *
 * @module
 * @since 0.1.0
 */
import { lift, type Lifted, liftList, type LiftedList } from "./internal/lift.ts"
import * as WebhookEndpoints from "./webhookEndpoints.ts"

/**
 * Creates a webhook endpoint. Only this response contains its signing `secret`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const createWebhookEndpoint: Lifted<typeof WebhookEndpoints.createWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.createWebhookEndpoint,
  3
)

/**
 * Returns one page of the webhook endpoints of an organization, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listWebhookEndpoints: LiftedList<typeof WebhookEndpoints.listWebhookEndpoints> = /* @__PURE__ */ liftList(
  WebhookEndpoints.listWebhookEndpoints,
  2
)

/**
 * Returns a webhook endpoint.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getWebhookEndpoint: Lifted<typeof WebhookEndpoints.getWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.getWebhookEndpoint,
  2
)

/**
 * Changes a webhook endpoint. Members that are left out are unchanged.
 *
 * @category control plane
 * @since 0.1.0
 */
export const updateWebhookEndpoint: Lifted<typeof WebhookEndpoints.updateWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.updateWebhookEndpoint,
  3
)

/**
 * Rotates the signing secret. Only this response contains the new one. The old one signs until `secretActivatesAt`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const rotateWebhookSecret: Lifted<typeof WebhookEndpoints.rotateWebhookSecret> = /* @__PURE__ */ lift(
  WebhookEndpoints.rotateWebhookSecret,
  3
)

/**
 * Deletes a webhook endpoint. Its pending deliveries become `endpoint_disabled`.
 *
 * @category control plane
 * @since 0.1.0
 */
export const deleteWebhookEndpoint: Lifted<typeof WebhookEndpoints.deleteWebhookEndpoint> = /* @__PURE__ */ lift(
  WebhookEndpoints.deleteWebhookEndpoint,
  2
)

/**
 * Returns one page of the deliveries of a webhook endpoint, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listDeliveries: LiftedList<typeof WebhookEndpoints.listDeliveries> = /* @__PURE__ */ liftList(
  WebhookEndpoints.listDeliveries,
  2
)

/**
 * Returns a delivery of a webhook endpoint.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getDelivery: Lifted<typeof WebhookEndpoints.getDelivery> = /* @__PURE__ */ lift(
  WebhookEndpoints.getDelivery,
  3
)

/**
 * Returns one page of the deliveries of all webhook endpoints of an organization, newest first.
 *
 * @category control plane
 * @since 0.1.0
 */
export const listOrganizationDeliveries: LiftedList<typeof WebhookEndpoints.listOrganizationDeliveries> =
  /* @__PURE__ */ liftList(WebhookEndpoints.listOrganizationDeliveries, 2)

/**
 * Counts the deliveries of a webhook endpoint over time, for a chart. The service keeps counts for 30 seconds.
 *
 * @category control plane
 * @since 0.1.0
 */
export const getDeliveryStats: Lifted<typeof WebhookEndpoints.getDeliveryStats> = /* @__PURE__ */ lift(
  WebhookEndpoints.getDeliveryStats,
  2
)
