/**
 * The control plane: webhook endpoints, and what became of the deliveries to them.
 *
 * @module
 */
import type { CallOptions } from "./connection.ts"
import { newWebhookEndpoint, rotatedWebhookEndpoint, webhookDelivery, webhookEndpoint } from "./internal/kinds.ts"
import { withBody, withoutBody } from "./internal/operation.ts"
import { type List, list, type ListOptions } from "./list.ts"
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
import type { ControlPlaneConnection } from "./session.ts"

/** Which deliveries a list has, and how it is read. */
export interface DeliveryListOptions extends ListOptions {
  /** Only deliveries that have this status. */
  readonly status?: Known<DeliveryStatus> | undefined
  /** Only deliveries of this event, `evt_…`. */
  readonly eventId?: string | undefined
}

/**
 * Makes a webhook endpoint. Its signing `secret` is shown this once.
 *
 * @throws {AnyGovoiceError} an `ApiError` `unsafe_webhook_url` when events cannot be sent there.
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

/** The webhook endpoints of an organization, newest first. */
export const listWebhookEndpoints: (
  session: ControlPlaneConnection,
  organizationId: string,
  options?: ListOptions
) => List<WebhookEndpoint> = /* @__PURE__ */ list("organizations/*/webhook-endpoints", webhookEndpoint)

/** Shows a webhook endpoint. */
export const getWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<WebhookEndpoint> = /* @__PURE__ */ withoutBody("webhook-endpoints/*", webhookEndpoint)

/** Changes a webhook endpoint. */
export const updateWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  change: WebhookEndpointChange,
  options?: CallOptions
) => Promise<WebhookEndpoint> = /* @__PURE__ */ withBody("PATCH", "webhook-endpoints/*", webhookEndpoint)

/** Makes a new signing secret, shown this once. The old one signs until `secretActivatesAt`. */
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

/** Deletes a webhook endpoint. What was not delivered to it yet ends as `endpoint_disabled`. */
export const deleteWebhookEndpoint: (
  session: ControlPlaneConnection,
  id: string,
  options?: CallOptions
) => Promise<void> = /* @__PURE__ */ withoutBody("webhook-endpoints/*", "", "DELETE")

/**
 * What became of the deliveries to a webhook endpoint, newest first.
 *
 * **Gotchas**
 *
 * The same event may be in more than one record: reconcile by `eventId`.
 */
export const listDeliveries: (
  session: ControlPlaneConnection,
  endpointId: string,
  options?: DeliveryListOptions
) => List<WebhookDelivery> = /* @__PURE__ */ list("webhook-endpoints/*/deliveries", webhookDelivery)
