/**
 * The webhooks of the document: the requests that the service sends to endpoints.
 */
import { InvoiceEvent } from "@govoice/core"
import * as Examples from "./examples.ts"
import { ref } from "./references.ts"

/** The tag of the webhooks. */
export const tag = {
  name: "Webhooks",
  description:
    "The requests that the service sends to webhook endpoints. Delivery is at least once and unordered: deduplicate events by their `id`."
}

const signatureHeaders = (event: InvoiceEvent.InvoiceEvent) => [
  {
    name: "Gov-Event-Id",
    in: "header",
    required: true,
    description: "The `id` of the event, the same on every attempt. Not covered by the signature.",
    schema: { type: "string", pattern: "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
    example: event.id
  },
  {
    name: "Gov-Timestamp",
    in: "header",
    required: true,
    description: "The time of signing of this attempt, ISO 8601 in UTC. Reject requests older than 5 minutes.",
    schema: { type: "string", format: "date-time" },
    example: event.created_at
  },
  {
    name: "Gov-Signature",
    in: "header",
    required: true,
    description:
      "`v1=` and the HMAC-SHA256, in lowercase hexadecimal, of the value of `Gov-Timestamp`, a period and the raw body. The key is the complete signing secret of the endpoint, including `whsec_`. Compare in constant time, on the bytes as received.",
    schema: { type: "string", pattern: "^v1=[0-9a-f]{64}$" },
    example: "v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd"
  }
]

const standardHeaders = (event: InvoiceEvent.InvoiceEvent) => [
  {
    name: "webhook-id",
    in: "header",
    required: false,
    description: "The `id` of the event. Only for endpoints with `standard_webhooks`.",
    schema: { type: "string", pattern: "^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
    example: event.id
  },
  {
    name: "webhook-timestamp",
    in: "header",
    required: false,
    description:
      "The time of signing of this attempt, in seconds since 1970. Only for endpoints with `standard_webhooks`.",
    schema: { type: "string", pattern: "^[0-9]+$" },
    example: String(Math.floor(Date.parse(event.created_at) / 1000))
  },
  {
    name: "webhook-signature",
    in: "header",
    required: false,
    description:
      "`v1,` and the HMAC-SHA256, in base64, of `webhook-id`, a period, `webhook-timestamp`, a period and the raw body. The key is the base64 after `whsec_`. Only for endpoints with `standard_webhooks`.",
    schema: { type: "string", pattern: "^v1,[A-Za-z0-9+/]{43}=$" },
    example: "v1,uMHcsSqUGh28KC0Yfr6v1mQdyTj6jwdbVdk2ZgyzfqA="
  }
]

const responses = {
  "2XX": { description: "Event accepted. Any other status is a failure." },
  "3XX": { description: "Permanent failure. Redirects are not followed." },
  "429": { description: "Transient failure. The service retries, not before `Retry-After`." },
  "4XX": { description: "Permanent failure. The service does not retry." },
  "5XX": {
    description: "Transient failure, as is a timeout. The service retries; a 503 may set `Retry-After`."
  }
}

const webhook = (type: InvoiceEvent.EventType, example = Examples.event(type)) => ({
  post: {
    tags: [tag.name],
    operationId: `webhooks.${type}`,
    summary: InvoiceEvent.descriptions[type].summary,
    description:
      "Sent to each enabled endpoint that subscribes to this type. Verify the signature of the raw body before parsing it. The service does not read the body of the response.",
    security: [],
    parameters: [...signatureHeaders(example), ...standardHeaders(example)],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            allOf: [
              ref("schemas", "Event"),
              { type: "object", properties: { type: { const: type } }, required: ["type"] }
            ]
          },
          example
        }
      }
    },
    responses
  }
})

/** The webhooks by event type. */
export const webhooks = Object.fromEntries(InvoiceEvent.EventType.literals.map((type) => [type, webhook(type)]))
