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

const Party = Schema.NullOr(
  Schema.Struct({
    tax_id: Schema.NullOr(Schema.String).annotate({
      description: "The tax number: a NIP; for a buyer also a VAT number with its country, or another identifier."
    }),
    name: Schema.NullOr(Schema.String)
  })
)

/**
 * What the document says, read when it was submitted. A member that the document does not have is `null`.
 *
 * @category models
 * @since 0.1.0
 */
export const Document = Schema.Struct({
  form: Schema.String.annotate({ description: "The form, such as `FA (3)`." }),
  kind: Schema.NullOr(Schema.String).annotate({ description: "The kind (`RodzajFaktury`), such as `VAT` or `KOR`." }),
  number: Schema.NullOr(Schema.String).annotate({
    description: "The number of the invoice (`P_2`, in an FA_RR `P_4C`), with single spaces."
  }),
  issue_date: Schema.NullOr(Schema.String).annotate({
    description: "The date of issue (`P_1`, in an FA_RR `P_4B`), `YYYY-MM-DD`."
  }),
  currency: Schema.NullOr(Schema.String).annotate({ description: "The currency (`KodWaluty`)." }),
  total: Schema.NullOr(Schema.String).annotate({
    description: "The total with tax (`P_15`, in an FA_RR `P_12_1`), in the digits of the document."
  }),
  seller: Party,
  buyer: Party
})

/**
 * Type of a decoded `Document`.
 *
 * @category models
 * @since 0.1.0
 */
export type Document = typeof Document.Type

/**
 * How an invoice was issued: `online`, so that it exists once the national system accepts it, or `offline`, so that the buyer has it
 * before.
 *
 * @category models
 * @since 0.1.0
 */
export const InvoicingMode = Schema.Literals(["online", "offline"])

/**
 * Type of a decoded `InvoicingMode`.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoicingMode = typeof InvoicingMode.Type

/**
 * The code that the seller prints on the invoice, with which anybody can check it at the national system.
 *
 * @category models
 * @since 0.1.0
 */
export const Verification = Schema.Struct({
  url: Schema.String.annotate({ description: "The link behind the QR code (KOD I)." }),
  label: Schema.String.annotate({
    description: "The text below the QR code: the official number, or `OFFLINE` until there is one."
  }),
  certificate_url: Schema.NullOr(Schema.String).annotate({
    description:
      "The link behind the second QR code (KOD II), below which `CERTYFIKAT` is printed. Null unless the invoice was issued offline."
  })
})

/**
 * Type of a decoded `Verification`.
 *
 * @category models
 * @since 0.1.0
 */
export type Verification = typeof Verification.Type

/**
 * What the national system takes, and the seller should look at. `line` and `column` count from 1.
 *
 * @category models
 * @since 0.1.0
 */
export const Warning = Schema.Struct({
  code: Schema.String.annotate({
    description: "What it is about, such as `total_differs`; `system_warning` where the national system sent it."
  }),
  message: Schema.String,
  line: Schema.NullOr(Schema.Int).annotate({
    description: "The line of the document, from 1. Null where it is about no place in the document."
  }),
  column: Schema.NullOr(Schema.Int).annotate({ description: "The column in that line, in characters, from 1." })
})

/**
 * Type of a decoded `Warning`.
 *
 * @category models
 * @since 0.1.0
 */
export type Warning = typeof Warning.Type

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
  document: Schema.NullOr(Document).annotate({
    description: "What the document says. Null if it is of no form that is known."
  }),
  verification: Schema.NullOr(Verification).annotate({
    description: "The code to print on the invoice. Null if the document has no tax number of the seller or no date."
  }),
  invoicing_mode: InvoicingMode.annotate({ description: "How the invoice was issued, as submitted." }),
  official_mode: Schema.NullOr(InvoicingMode).annotate({
    description:
      "How the national system took it, as its receipt says: an online invoice that arrived on a later day than its date of issue is `offline`. Null until there is a receipt."
  }),
  send_by: Schema.NullOr(Schema.String).annotate({
    description:
      "The last day for sending an invoice that was issued offline, `YYYY-MM-DD`: the working day in Poland after its date of issue, or the seventh one after a failure that the national system announced. Null for others."
  }),
  corrects: Schema.NullOr(Ids.schema("inv")).annotate({
    description: "The rejected invoice, issued offline, that this one corrects technically. Null for others."
  }),
  warnings: Schema.Array(Warning).annotate({
    description:
      "What the national system accepts but the seller should check, in the order of the document: at most 20 from the check of the document, and at most 5 that the national system sent with its answer. Empty where there is none, and for a document that was not checked."
  }),
  official_number: Schema.NullOr(Schema.String).annotate({
    description: "The number that the national system assigned. Null until the invoice is accepted."
  }),
  rejection: Schema.NullOr(Reason).annotate({
    description: "The reason for the rejection. Null unless the invoice is rejected."
  }),
  failure: Schema.NullOr(Reason).annotate({
    description:
      "Why the invoice waits or failed. Null if nothing is known to be wrong, and for at most a minute while a live invoice waits."
  }),
  upo_available: Schema.Boolean.annotate({ description: "Whether the official receipt (UPO) can be downloaded." }),
  attempt_count: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "The number of submission attempts."
  }),
  next_attempt_at: Schema.NullOr(Timestamp).annotate({
    description:
      "The time of the next attempt, in the future. Null unless the invoice is retrying, and once that time has come."
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
