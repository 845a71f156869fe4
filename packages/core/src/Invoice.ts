/**
 * The invoice as its owner sees it: in answers of the API and inside events.
 *
 * The members are snake_case because this is the record on the wire. The document itself (`invoice_xml`) is never part
 * of it.
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
 * Why an invoice was rejected, or why the gateway failed: a stable code and a sentence.
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
    description: "The number that the national system assigned, once the invoice is accepted."
  }),
  rejection: Schema.NullOr(Reason).annotate({ description: "Why the national system refused the invoice." }),
  failure: Schema.NullOr(Reason).annotate({ description: "Why the gateway failed, last or for good." }),
  upo_available: Schema.Boolean.annotate({ description: "Whether the official receipt (UPO) can be downloaded." }),
  attempt_count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "How many times a submission was attempted."
  }),
  next_attempt_at: Schema.NullOr(Timestamp).annotate({ description: "When a retrying invoice is attempted next." }),
  created_at: Timestamp,
  updated_at: Timestamp,
  submitted_at: Schema.NullOr(Timestamp).annotate({ description: "When the national system took the invoice." }),
  completed_at: Schema.NullOr(Timestamp).annotate({ description: "When the invoice reached its final status." })
}).annotate({ identifier: "Invoice", description: "One submitted invoice." })

/**
 * Type of a decoded `Invoice`.
 *
 * @category models
 * @since 0.1.0
 */
export type Invoice = typeof Invoice.Type
