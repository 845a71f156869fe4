/**
 * The invoice record of API responses and events.
 *
 * The members are snake_case, as on the wire. The record does not contain the document (`invoice_xml`).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Ids from "./Ids.ts"
import { Status } from "./InvoiceState.ts"
import { Metadata } from "./Metadata.ts"
import { Mode } from "./Mode.ts"
import { Scenario } from "./SandboxScenario.ts"
import { Timestamp } from "./Timestamp.ts"

/**
 * The reason for a rejection or a gateway failure: a stable code and a sentence.
 *
 * @category models
 * @since 0.1.0
 */
export const Reason = Schema.Struct({ code: Schema.String, message: Schema.String })

/**
 * Type of a decoded `Reason`.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * The record of one invoice.
 *
 * @category models
 * @since 0.1.0
 */
export const Invoice = Schema.Struct({
  id: Ids.schema("inv"),
  object: Schema.Literal("invoice"),
  mode: Mode,
  status: Status,
  scenario: Schema.NullOr(Scenario).annotate({ description: "The sandbox scenario; null for live invoices." }),
  metadata: Metadata,
  official_number: Schema.NullOr(Schema.String).annotate({
    description: "The number that the national system assigned. Null until the invoice is accepted."
  }),
  rejection: Schema.NullOr(Reason).annotate({
    description: "The reason for the rejection. Null unless the invoice is rejected."
  }),
  failure: Schema.NullOr(Reason).annotate({
    description: "The last gateway failure. Null if the last attempt did not fail."
  }),
  upo_available: Schema.Boolean.annotate({ description: "Whether the official receipt (UPO) can be downloaded." }),
  attempt_count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "The number of submission attempts."
  }),
  next_attempt_at: Schema.NullOr(Timestamp).annotate({
    description: "The time of the next attempt. Null unless the invoice is retrying."
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  submitted_at: Schema.NullOr(Timestamp).annotate({
    description: "The time at which the national system received the invoice."
  }),
  completed_at: Schema.NullOr(Timestamp).annotate({
    description: "The time at which the invoice reached its final status."
  })
}).annotate({ identifier: "Invoice", description: "One submitted invoice." })

/**
 * Type of a decoded `Invoice`.
 *
 * @category models
 * @since 0.1.0
 */
export type Invoice = typeof Invoice.Type
