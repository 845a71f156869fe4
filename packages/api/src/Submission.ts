/**
 * The body and the headers of a submission.
 *
 * @since 0.1.0
 */
import { Invoice, InvoiceXml, Metadata, SandboxScenario } from "@govoice/core"
import * as Schema from "effect/Schema"

const formatCount = (count: number): string => count.toLocaleString("en")

/**
 * The body of a submission. Checks the limits that do not require parsing the XML.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubmissionRequest = Schema.Struct({
  invoice_xml: Schema.String.annotate({
    description: `A well-formed XML document without DOCTYPE: at most ${formatCount(InvoiceXml.maxBytes)} bytes of UTF-8 (${formatCount(InvoiceXml.maxBytesWithAttachment)} with attachments, Zalacznik), ${formatCount(InvoiceXml.maxElements)} elements, and ${InvoiceXml.maxAttributes} attributes for each. Stored unchanged.`
  }).check(Schema.makeFilter(InvoiceXml.fault)),
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata.Metadata.check(Schema.makeFilter(Metadata.fault))).annotate({
      description: "Strings by name. Null is the same as no metadata.",
      message: "metadata must be an object whose values are strings."
    })
  ),
  invoicing_mode: Schema.optionalKey(
    Schema.NullOr(Invoice.InvoicingMode).annotate({
      description:
        "`offline` for an invoice that the buyer gets before the national system has it: the answer has the second QR code, which the certificate of the organization signs. Null is the same as `online`, the default.",
      message: 'must be "online" or "offline"'
    })
  ),
  corrects_invoice_id: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({
      description:
        "For a technical correction: the rejected invoice, issued offline, whose place this one takes. The content of the invoice stays the same. Requires `invoicing_mode` `offline`."
    })
  )
}).annotate({ identifier: "SubmissionRequest", description: "An invoice to submit." })

/**
 * Type of a decoded `SubmissionRequest`.
 *
 * @category models
 * @since 0.1.0
 */
export type SubmissionRequest = typeof SubmissionRequest.Type

/**
 * An idempotency key: 1 to 255 printable ASCII characters.
 *
 * @category schemas
 * @since 0.1.0
 */
export const IdempotencyKey = Schema.String.check(Schema.isPattern(/^[\x20-\x7e]{1,255}$/u)).annotate({
  description: "A unique value for each invoice: 1 to 255 printable ASCII characters."
})

/**
 * The headers of a submission. `SubmissionHeaders` checks them before the body is read.
 *
 * **Details**
 *
 * The schema documents the scenarios without checking them, because the header of a live key is ignored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const submissionHeaders = {
  "idempotency-key": IdempotencyKey,
  "gov-sandbox-scenario": Schema.optionalKey(
    Schema.String.annotate({
      description: `The sandbox scenario of the invoice. Ignored for live keys. Defaults to \`${SandboxScenario.defaultScenario}\`.`,
      default: SandboxScenario.defaultScenario
    }).check(
      Schema.makeFilter(() => true, { toJsonSchema: () => [{ enum: [...SandboxScenario.Scenario.literals] }, true] })
    )
  ),
  "gov-sandbox-checks": Schema.optionalKey(
    Schema.String.annotate({
      description:
        "With `schema`, a document of a test key is checked like one of a live key in production: form, national rules, XML schema. Ignored for live keys."
    }).check(Schema.makeFilter(() => true, { toJsonSchema: () => [{ enum: ["schema"] }, true] }))
  )
}
