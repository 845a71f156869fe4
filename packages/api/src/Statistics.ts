/**
 * Counts of deliveries and invoices for the charts of the owner.
 *
 * @since 0.1.0
 */
import { Ids, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

const count = (description: string) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description })

/**
 * The deliveries that were created in one interval, by what became of them.
 *
 * @category models
 * @since 0.1.0
 */
export const DeliveryBucket = Schema.Struct({
  start: Timestamp.Timestamp,
  total: count("Deliveries that were created in the interval."),
  retrying: count("Of them, those that are retrying."),
  failed: count("Of them, those that failed."),
  endpoint_disabled: count("Of them, those that ended because the endpoint was disabled."),
  capped: Schema.Boolean.annotate({ description: "Whether there are more than was counted." })
}).annotate({ identifier: "DeliveryBucket", description: "The deliveries that were created in one interval." })

/**
 * Type of a decoded `DeliveryBucket`.
 *
 * @category models
 * @since 0.1.0
 */
export type DeliveryBucket = typeof DeliveryBucket.Type

/**
 * The time that statistics cover.
 *
 * @category models
 * @since 0.1.0
 */
export const Window = Schema.Literals(["24h", "7d"]).annotate({
  description: "The time to count over: 24 hours in intervals of an hour, or 7 days in intervals of six hours."
})

/**
 * Type of a decoded `Window`.
 *
 * @category models
 * @since 0.1.0
 */
export type Window = typeof Window.Type

const bucketSeconds = Schema.Int.annotate({ description: "The length of an interval, in seconds." })

const waiting = count("Deliveries that are due: available, or in flight.")
const retrying = count("Deliveries that are retrying.")

/**
 * The deliveries of a webhook endpoint over time.
 *
 * @category models
 * @since 0.1.0
 */
export const WebhookDeliveryStats = Schema.Struct({
  object: Schema.Literal("webhook_delivery_stats"),
  endpoint_id: Ids.schema("we"),
  window: Window,
  bucket_seconds: bucketSeconds,
  generated_at: Timestamp.Timestamp.annotate({ description: "The time of the counts, which are kept for 30 seconds." }),
  now: Schema.Struct({ waiting, retrying }).annotate({ description: "Unfinished records of any age, now." }),
  buckets: Schema.Array(DeliveryBucket).annotate({ description: "The intervals, oldest first. The last is not over." })
}).annotate({
  identifier: "WebhookDeliveryStats",
  description: "The deliveries of a webhook endpoint over time. Counts stop at 10,000 per interval."
})

/**
 * Type of a decoded `WebhookDeliveryStats`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookDeliveryStats = typeof WebhookDeliveryStats.Type

/**
 * What the owner of an organization should know. The server mails it once, where it sends mails.
 *
 * @category models
 * @since 0.1.0
 */
export const OwnerNotice = Schema.Struct({
  type: Schema.Literals([
    "endpoint_failing",
    "endpoint_disabled",
    "credential_expiring",
    "offline_certificate_expiring",
    "token_login_ending"
  ]).annotate({
    description:
      "`endpoint_failing`: no delivery to the endpoint has succeeded for six hours. `endpoint_disabled`: it was switched off because it only failed. `credential_expiring`, `offline_certificate_expiring`: within 30 days, or before. `token_login_ending`: the organization logs in with a token, for which the rules provide until 2026-12-31."
  }),
  endpoint_id: Schema.NullOr(Ids.schema("we")).annotate({ description: "The endpoint that it is about, if it is." }),
  since: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "Since when the endpoint fails." }),
  expires_at: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "When the credential or the certificate expires."
  })
}).annotate({ identifier: "OwnerNotice", description: "What the owner of an organization should know." })

/**
 * Type of a decoded `OwnerNotice`.
 *
 * @category models
 * @since 0.1.0
 */
export type OwnerNotice = typeof OwnerNotice.Type

/**
 * The deliveries and invoices of an organization.
 *
 * @category models
 * @since 0.1.0
 */
export const OrganizationOverview = Schema.Struct({
  object: Schema.Literal("organization_overview"),
  organization_id: Ids.schema("org"),
  window: Window,
  bucket_seconds: bucketSeconds,
  generated_at: Timestamp.Timestamp.annotate({ description: "The time of the counts, which are kept for 30 seconds." }),
  endpoints: Schema.Array(
    Schema.Struct({
      endpoint_id: Ids.schema("we"),
      waiting,
      retrying,
      failed_24h: count("Deliveries of the last 24 hours that failed."),
      buckets: Schema.Array(DeliveryBucket).annotate({
        description: "The intervals of the window, oldest first. The last is not over."
      })
    })
  ).annotate({ description: "The endpoints that are not deleted, newest first." }),
  limited_since: Schema.NullOr(Timestamp.Timestamp).annotate({
    description:
      "Since when the oldest delivery is due that waits for the concurrency limit of the organization, because receivers are slow. Null if none does."
  }),
  notices: Schema.Array(OwnerNotice).annotate({ description: "What the owner should know." }),
  invoices: Schema.Struct({
    retrying: count("Invoices that are retrying."),
    rejected_24h: count("Invoices of the last 24 hours that were rejected."),
    failed_24h: count("Invoices of the last 24 hours that failed."),
    accepted_24h: count("Invoices of the last 24 hours that were accepted, among the newest 10,000."),
    in_progress: count("Invoices that are queued, submitting, retrying or submitted, among the newest 10,000."),
    median_seconds_to_upo: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))).annotate({
      description:
        "The median time from the submission to the receipt (UPO), over the newest 100 invoices that have one. Null if none has."
    })
  })
}).annotate({
  identifier: "OrganizationOverview",
  description: "The deliveries of the endpoints of an organization over time, and its invoices. Counts stop at 1,000."
})

/**
 * Type of a decoded `OrganizationOverview`.
 *
 * @category models
 * @since 0.1.0
 */
export type OrganizationOverview = typeof OrganizationOverview.Type
