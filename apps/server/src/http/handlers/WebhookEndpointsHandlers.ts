/** Serves webhook endpoints and their delivery records. */
import { AccountAuthorization, Api, Problems } from "@govoice/api"
import { Mode } from "@govoice/core"
import { judgeUrl, type Rule } from "@govoice/dispatcher"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Cursors } from "../../crypto/Cursors.ts"
import * as Page from "../../database/Page.ts"
import { Settings } from "../../settings/Settings.ts"
import { DeliveryRecords } from "../../deliveries/DeliveryRecords.ts"
import { Organizations } from "../../accounts/Organizations.ts"
import { type MaxInFlightTooHigh, WebhookEndpoints } from "../../deliveries/WebhookEndpoints.ts"
import { DeliveryStats, windows } from "../../deliveries/DeliveryStats.ts"
import { StatisticsLimits } from "../middleware/StatisticsLimits.ts"
import * as Throttling from "../middleware/Throttling.ts"
import { filterNames, filterOf } from "./deliveryFilters.ts"
import * as Pagination from "./Pagination.ts"

const organizationNotFound = () => Problems.fail("organization_not_found")
const endpointNotFound = () => Problems.fail("webhook_endpoint_not_found")
const secretNotStandard = () =>
  Problems.fail("invalid_parameter", {
    param: "standard_webhooks",
    message:
      "The signing secret of this endpoint has an older format that cannot sign Standard Webhooks. Rotate it with rotate-secret; when the new secret is active, set standard_webhooks again."
  })

const maxInFlightTooHigh = ({ limit }: MaxInFlightTooHigh) =>
  Problems.fail("invalid_parameter", {
    param: "max_in_flight",
    message: `max_in_flight: must be at most ${limit}, the limit of the organization. Send a smaller number, or null to use the organization's limit.`
  })

// The operator of a deployment may allow plain HTTP and networks.
const remedies: { readonly [R in Rule]?: string } = {
  url: "Send a complete URL, such as https://example.com/webhooks.",
  scheme: "Send a URL with https, or have the operator set GOVOICE_WEBHOOK_ALLOW_HTTP.",
  userinfo: "Remove user and password: webhooks are signed.",
  host: "Correct the name of the host.",
  port: "Use another port.",
  metadata: "Send a URL of your own server."
}

const remedyFor = (rule: Rule): string =>
  remedies[rule] ??
  "Send a URL with a public address, or have the operator allow the network in GOVOICE_WEBHOOK_ALLOW_NETWORKS."

/** Layer that implements the `webhookEndpoints` group. */
export const layer = HttpApiBuilder.group(
  Api,
  "webhookEndpoints",
  Effect.fnUntraced(function* (handlers) {
    const cursors = yield* Cursors
    const deliveries = yield* DeliveryRecords
    const endpoints = yield* WebhookEndpoints
    const organizations = yield* Organizations
    const limits = yield* StatisticsLimits
    const stats = yield* DeliveryStats
    const { webhooks } = yield* Settings

    // Judges the URL alone. The addresses of its name are judged before every attempt.
    const checkUrl = Effect.fnUntraced(function* (url: string | undefined) {
      if (url === undefined) return
      const verdict = judgeUrl(url, webhooks.policy)
      if (!verdict.ok) {
        return yield* Problems.fail("unsafe_webhook_url", {
          message: `Webhooks cannot be sent to this URL: it breaks the rule '${verdict.rule}'. ${remedyFor(verdict.rule)}`
        })
      }
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkUrl(payload.url)
        return yield* endpoints
          .create(yield* AccountAuthorization.CurrentAccount, params.org_id, {
            url: payload.url,
            description: payload.description ?? null,
            eventTypes: payload.event_types,
            enabled: payload.enabled ?? true,
            standardWebhooks: payload.standard_webhooks ?? false,
            modes: payload.modes ?? Mode.Mode.literals,
            headers: payload.headers ?? {},
            maxInFlight: payload.max_in_flight ?? null
          })
          .pipe(
            Effect.catchTags({
              MaxInFlightTooHigh: maxInFlightTooHigh,
              OrganizationNotFound: organizationNotFound,
              TooManyWebhookEndpoints: () =>
                Problems.fail("limit_reached", {
                  message: "The organization has the maximum number of endpoints. Delete one you no longer use."
                })
            })
          )
      }),

      update: Effect.fnUntraced(function* ({ params, payload }) {
        yield* checkUrl(payload.url)
        const {
          description,
          enabled,
          event_types: eventTypes,
          headers,
          max_in_flight: maxInFlight,
          modes,
          standard_webhooks: standardWebhooks,
          url
        } = payload
        return yield* endpoints
          .update(yield* AccountAuthorization.CurrentAccount, params.endpoint_id, {
            ...(url === undefined ? {} : { url }),
            ...(description === undefined ? {} : { description }),
            ...(eventTypes === undefined ? {} : { eventTypes }),
            ...(enabled === undefined ? {} : { enabled }),
            ...(standardWebhooks === undefined ? {} : { standardWebhooks }),
            ...(modes === undefined ? {} : { modes }),
            ...(headers === undefined ? {} : { headers }),
            ...(maxInFlight === undefined ? {} : { maxInFlight })
          })
          .pipe(
            Effect.catchTags({
              MaxInFlightTooHigh: maxInFlightTooHigh,
              WebhookEndpointNotFound: endpointNotFound,
              SecretNotStandard: secretNotStandard
            })
          )
      }),

      rotateSecret: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* endpoints
          .rotateSecret(
            yield* AccountAuthorization.CurrentAccount,
            params.endpoint_id,
            payload.activates_in_seconds ?? 0
          )
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
      }),

      list: Effect.fnUntraced(function* ({ params, query }) {
        const organization = yield* organizations
          .find(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", organizationNotFound))
        return yield* Pagination.serve(cursors, ["webhookEndpoints", organization.id], query, (page) =>
          endpoints.list(organization.id, page)
        )
      }),

      get: Effect.fnUntraced(function* ({ params }) {
        return yield* endpoints
          .find(yield* AccountAuthorization.CurrentAccount, params.endpoint_id)
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
      }),

      delete: Effect.fnUntraced(function* ({ params }) {
        yield* endpoints
          .remove(yield* AccountAuthorization.CurrentAccount, params.endpoint_id)
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
      }),

      getDeliveryStats: Effect.fnUntraced(function* ({ params, query: { window = "24h" } }) {
        const accountId = yield* AccountAuthorization.CurrentAccount
        const endpoint = yield* endpoints
          .find(accountId, params.endpoint_id)
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
        yield* limits.take(accountId).pipe(Effect.catchTag("Throttled", Throttling.fail))
        const { at, counts } = yield* stats.ofEndpoint(endpoint.id, window)
        return {
          object: "webhook_delivery_stats" as const,
          endpoint_id: endpoint.id,
          window,
          bucket_seconds: windows[window].seconds,
          generated_at: new Date(at).toISOString(),
          now: { waiting: counts.waiting, retrying: counts.retrying },
          buckets: counts.buckets
        }
      }),

      getDelivery: Effect.fnUntraced(function* ({ params }) {
        const endpoint = yield* endpoints
          .find(yield* AccountAuthorization.CurrentAccount, params.endpoint_id)
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
        return yield* deliveries
          .find(endpoint.id, params.delivery_id)
          .pipe(Effect.catchTag("DeliveryNotFound", () => Problems.fail("webhook_delivery_not_found")))
      }),

      listDeliveries: Effect.fnUntraced(function* ({ params, query }) {
        const endpoint = yield* endpoints
          .find(yield* AccountAuthorization.CurrentAccount, params.endpoint_id)
          .pipe(Effect.catchTag("WebhookEndpointNotFound", endpointNotFound))
        return yield* Pagination.serve(cursors, ["deliveries", endpoint.id, ...filterNames(query)], query, (page) =>
          deliveries.list(endpoint.id, filterOf(query), Page.within(page, "wd", Pagination.timeOf(query)))
        )
      }),

      listAllDeliveries: Effect.fnUntraced(function* ({ params, query }) {
        const { id } = yield* organizations
          .find(yield* AccountAuthorization.CurrentAccount, params.org_id)
          .pipe(Effect.catchTag("OrganizationNotFound", organizationNotFound))
        return yield* Pagination.serve(cursors, ["deliveries", id, ...filterNames(query)], query, (page) =>
          deliveries.listAll(id, filterOf(query), Page.within(page, "wd", Pagination.timeOf(query)))
        )
      })
    })
  })
)
