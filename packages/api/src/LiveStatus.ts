/**
 * The live mode of an organization: its taxpayer, its limits, and its invoices at the national system.
 *
 * @since 0.1.0
 */
import { Ids, Invoice, Timestamp } from "@govoice/core"
import * as Schema from "effect/Schema"

const queued = (description: string) =>
  Schema.Struct({
    count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      description: "The number, at most 1,000."
    }),
    oldest_at: Schema.NullOr(Timestamp.Timestamp).annotate({ description: "The time of the oldest." }),
    failure: Schema.NullOr(Invoice.Reason).annotate({
      description: "Why the oldest of those waits that have a `failure`. Null if none has."
    })
  }).annotate({ description })

/**
 * The calls of one kind that the national system allows a taxpayer in an hour.
 *
 * @category models
 * @since 0.1.0
 */
export const CallLimit = Schema.Struct({
  group: Schema.String.annotate({ description: "The kind of calls, as the national system groups them." }),
  used: Schema.Int.annotate({ description: "Calls of the last hour." }),
  per_hour: Schema.NullOr(Schema.Int).annotate({
    description: "Calls that an hour allows. Null if it is not limited."
  }),
  blocked_until: Schema.NullOr(Timestamp.Timestamp).annotate({
    description: "Until when the national system refuses these calls. Null unless it does."
  })
}).annotate({
  identifier: "CallLimit",
  description: "The calls of one kind that the national system allows a taxpayer in an hour."
})

/**
 * Type of a decoded `CallLimit`.
 *
 * @category models
 * @since 0.1.0
 */
export type CallLimit = typeof CallLimit.Type

/**
 * The live mode of an organization.
 *
 * @category models
 * @since 0.1.0
 */
export const LiveStatus = Schema.Struct({
  object: Schema.Literal("live_status"),
  organization_id: Ids.schema("org"),
  available: Schema.Boolean.annotate({ description: "Whether live keys of the organization can submit." }),
  live_mode: Schema.Boolean.annotate({ description: "Whether the deployment submits to the national system." }),
  environment: Schema.NullOr(Schema.String).annotate({
    description:
      "The environment of the deployment: `test`, `demo`, `prod`, or the URL of another one. Null without one."
  }),
  waiting: queued("Live invoices that are not sent yet."),
  undecided: queued("Live invoices that were sent and have no verdict yet, by the time of sending."),
  limits: Schema.Array(CallLimit).annotate({
    description:
      "The calls that the taxpayer has used of its limits. Empty until the national system has accepted the credential."
  })
}).annotate({
  identifier: "LiveStatus",
  description: "The live mode of an organization. `gateway-credential` describes its credential."
})

/**
 * Type of a decoded `LiveStatus`.
 *
 * @category models
 * @since 0.1.0
 */
export type LiveStatus = typeof LiveStatus.Type
