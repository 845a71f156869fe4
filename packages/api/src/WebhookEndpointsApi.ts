/**
 * The HTTP contract of webhook endpoints and their deliveries.
 *
 * @since 0.1.0
 */
import { DeliveryState, InvoiceEvent } from "@govoice/core"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { AccountAuthorization } from "./AccountAuthorization.ts"
import * as Fields from "./Fields.ts"
import * as Lists from "./Lists.ts"
import * as Problems from "./Problems.ts"
import { WebhookDeliveryStats, Window } from "./Statistics.ts"
import { BodyReading, ParameterValidation } from "./Validation.ts"
import { WebhookDelivery } from "./WebhookDelivery.ts"
import { NewWebhookEndpoint, RotatedWebhookEndpoint, WebhookEndpoint } from "./WebhookEndpoint.ts"

const orgParams = { org_id: Schema.String.annotate({ description: "The identifier of an organization, `org_…`." }) }
const params = {
  endpoint_id: Schema.String.annotate({ description: "The identifier of a webhook endpoint, `we_…`." })
}

// The code for an empty URL is `unsafe_webhook_url`, so its length is not checked here.
const url = Fields.text(0, 2048, {
  description:
    "The URL that receives events. Must be https with a public address, unless the deployment allows others.",
  examples: ["https://example.com/webhooks"]
})
const description = Schema.optionalKey(Schema.NullOr(Fields.text(0, 500)).annotate({ description: "A note." }))
const enabled = Schema.optionalKey(
  Schema.Boolean.annotate({ description: "Whether the endpoint receives events. Defaults to true for a new endpoint." })
)
const standardWebhooks = Schema.optionalKey(
  Schema.Boolean.annotate({
    description:
      "Whether requests also carry `webhook-id`, `webhook-timestamp` and `webhook-signature` by the Standard Webhooks specification. Defaults to false for a new endpoint."
  })
)
const modes = Schema.optionalKey(Fields.modes)
const headers = Schema.optionalKey(Fields.headers)
const maxInFlight = Schema.optionalKey(
  Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000 }))).annotate({
    description:
      "How many requests may be under way to the endpoint at once: 1 to the limit of the organization. Null, the default, uses that limit."
  })
)

const deliveryQuery = {
  ...Lists.pageQuery,
  status: Schema.optionalKey(DeliveryState.Status.annotate({ description: "Only deliveries with this status." })),
  event_type: Schema.optionalKey(
    InvoiceEvent.EventType.annotate({ description: "Only deliveries of events of this type." })
  ),
  event_id: Schema.optionalKey(
    Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" })).annotate({
      description: "Only deliveries of this event, `evt_…`."
    })
  ),
  invoice_id: Schema.optionalKey(
    Schema.String.check(Schema.isNonEmpty({ message: "must not be empty" })).annotate({
      description: "Only deliveries of the events of this invoice, `inv_…`."
    })
  ),
  ...Lists.timeQuery
}

/**
 * Webhook endpoints of an organization.
 *
 * @category models
 * @since 0.1.0
 */
export class WebhookEndpointsApi extends HttpApiGroup.make("webhookEndpoints")
  .add(
    HttpApiEndpoint.post("create", "/v1/control-plane/organizations/:org_id/webhook-endpoints", {
      params: orgParams,
      payload: Schema.Struct({
        url,
        event_types: Fields.eventTypes,
        description,
        enabled,
        standard_webhooks: standardWebhooks,
        modes,
        headers,
        max_in_flight: maxInFlight
      }).annotate({
        identifier: "WebhookEndpointRequest"
      }),
      success: NewWebhookEndpoint.pipe(HttpApiSchema.status(201)),
      error: Problems.errors("organization_not_found", "unsafe_webhook_url", "limit_reached")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a webhook endpoint",
        description: "Only this response contains the signing secret."
      })
    ),
    HttpApiEndpoint.patch("update", "/v1/control-plane/webhook-endpoints/:endpoint_id", {
      params,
      payload: Schema.Struct({
        url: Schema.optionalKey(url),
        event_types: Schema.optionalKey(Fields.eventTypes),
        description,
        enabled,
        standard_webhooks: standardWebhooks,
        modes,
        headers,
        max_in_flight: maxInFlight
      }).annotate({ identifier: "WebhookEndpointChange" }),
      success: WebhookEndpoint,
      error: Problems.errors("webhook_endpoint_not_found", "unsafe_webhook_url")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a webhook endpoint",
        description: "Members that are left out are unchanged."
      })
    ),
    HttpApiEndpoint.post("rotateSecret", "/v1/control-plane/webhook-endpoints/:endpoint_id/rotate-secret", {
      params,
      payload: Schema.Struct({
        activates_in_seconds: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 604_800 })).annotate({
            description: "The delay until the new secret signs, in seconds. Defaults to 0."
          })
        )
      }).annotate({ identifier: "SecretRotation" }),
      success: RotatedWebhookEndpoint,
      error: Problems.errors("webhook_endpoint_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Rotate the signing secret",
        description:
          "Only this response contains the new secret. The body may be left out. A second rotation replaces a pending one."
      })
    )
  )
  .middleware(BodyReading)
  .add(
    HttpApiEndpoint.get("list", "/v1/control-plane/organizations/:org_id/webhook-endpoints", {
      params: orgParams,
      query: Lists.pageQuery,
      success: Lists.page("WebhookEndpointList", WebhookEndpoint),
      error: Problems.errors("organization_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "List webhook endpoints" })),
    HttpApiEndpoint.get("listAllDeliveries", "/v1/control-plane/organizations/:org_id/deliveries", {
      params: orgParams,
      query: deliveryQuery,
      success: Lists.page("WebhookDeliveryList", WebhookDelivery),
      error: Problems.errors("organization_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List the deliveries of an organization",
        description:
          "The deliveries of all endpoints that are not deleted. A page can have fewer records than `limit`. A delivery has the time of its event and can appear later, so this list is not one to follow by time."
      })
    ),
    HttpApiEndpoint.get("listDeliveries", "/v1/control-plane/webhook-endpoints/:endpoint_id/deliveries", {
      params,
      query: deliveryQuery,
      success: Lists.page("WebhookDeliveryList", WebhookDelivery),
      error: Problems.errors("webhook_endpoint_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List deliveries",
        description: "Read-only. The same event may occur in more than one record: reconcile by `event_id`."
      })
    ),
    HttpApiEndpoint.get("getDeliveryStats", "/v1/control-plane/webhook-endpoints/:endpoint_id/delivery-stats", {
      params,
      query: { window: Schema.optionalKey(Window) },
      success: WebhookDeliveryStats,
      error: Problems.errors("webhook_endpoint_not_found", "rate_limit_exceeded")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Count the deliveries of a webhook endpoint over time",
        description: "`window` defaults to `24h`. An account may ask for counts twice a second."
      })
    )
  )
  .middleware(ParameterValidation)
  .add(
    HttpApiEndpoint.get("get", "/v1/control-plane/webhook-endpoints/:endpoint_id", {
      params,
      success: WebhookEndpoint,
      error: Problems.errors("webhook_endpoint_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Get a webhook endpoint" })),
    HttpApiEndpoint.get("getDelivery", "/v1/control-plane/webhook-endpoints/:endpoint_id/deliveries/:delivery_id", {
      params: {
        ...params,
        delivery_id: Schema.String.annotate({ description: "The identifier of a delivery, `wd_…`." })
      },
      success: WebhookDelivery,
      error: Problems.errors("webhook_endpoint_not_found", "webhook_delivery_not_found")
    }).annotateMerge(OpenApi.annotations({ summary: "Get a delivery" })),
    HttpApiEndpoint.delete("delete", "/v1/control-plane/webhook-endpoints/:endpoint_id", {
      params,
      success: HttpApiSchema.NoContent,
      error: Problems.errors("webhook_endpoint_not_found")
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delete a webhook endpoint",
        description: "Pending deliveries become `endpoint_disabled`."
      })
    )
  )
  .middleware(AccountAuthorization)
  .annotateMerge(OpenApi.annotations({ title: "Webhook endpoints", description: "The URLs that receive events." })) {}
