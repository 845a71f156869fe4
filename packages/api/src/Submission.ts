/**
 * What a submission is made of.
 *
 * @since 0.1.0
 */
import { InvoiceXml, Metadata, SandboxScenario } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The body of a submission: the document and the caller's notes, within the bounds that can be judged without reading XML.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Submission = Schema.Struct({
  invoice_xml: Schema.String.annotate({
    description: `The invoice as a well-formed XML document without DOCTYPE, at most ${InvoiceXml.maxBytes.toLocaleString("en")} bytes of UTF-8. Stored exactly.`
  }).check(Schema.makeFilter(InvoiceXml.fault)),
  metadata: Schema.optionalKey(
    Schema.NullOr(Metadata.Metadata.check(Schema.makeFilter(Metadata.fault))).annotate({
      description: "The caller's own notes: strings by name. Null is the same as leaving it out.",
      message: "metadata must be an object whose values are strings."
    })
  )
}).annotate({ identifier: "Submission", description: "An invoice to submit." })

/**
 * Type of a decoded `Submission`.
 *
 * @category models
 * @since 0.1.0
 */
export type Submission = typeof Submission.Type

/**
 * The idempotency keys that are taken: 1 to 255 printable ASCII characters.
 *
 * @category schemas
 * @since 0.1.0
 */
export const IdempotencyKey = Schema.String.check(Schema.isPattern(/^[\x20-\x7e]{1,255}$/u)).annotate({
  description: "A value of your own, unique for each invoice: 1 to 255 printable ASCII characters."
})

/**
 * The headers of a submission, as they are documented. `SubmissionHeaders` judges them before the body is read.
 *
 * **Details**
 *
 * The scenarios are documented and not checked here: a live key may send anything, because nothing reads it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const submissionHeaders = {
  "idempotency-key": IdempotencyKey,
  "gov-sandbox-scenario": Schema.optionalKey(
    Schema.String.annotate({
      description: `How the sandbox treats the invoice. Test keys only; a live key ignores it. Defaults to \`${SandboxScenario.defaultScenario}\`.`,
      default: SandboxScenario.defaultScenario
    }).check(
      Schema.makeFilter(() => true, { toJsonSchema: () => [{ enum: [...SandboxScenario.Scenario.literals] }, true] })
    )
  )
}
