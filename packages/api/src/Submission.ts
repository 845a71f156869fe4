/**
 * What a submission is made of.
 *
 * @since 0.1.0
 */
import { InvoiceXml, Metadata, SandboxScenario } from "@govoice/core"
import * as Schema from "effect/Schema"

/**
 * The body of a submission.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Submission = Schema.Struct({
  invoice_xml: Schema.String.annotate({
    description: `The invoice as a well-formed XML document without DOCTYPE, at most ${InvoiceXml.maxBytes} bytes of UTF-8. Stored exactly.`
  }),
  metadata: Schema.optionalKey(Schema.NullOr(Metadata.Metadata))
}).annotate({ identifier: "Submission", description: "An invoice to submit." })
export type Submission = typeof Submission.Type

/**
 * The headers of a submission, as they are documented. `SubmissionHeaders` judges them before the body is read.
 *
 * @category schemas
 * @since 0.1.0
 */
export const submissionHeaders = {
  "idempotency-key": Schema.String.annotate({
    description: "A value of your own, unique for each invoice: 1 to 255 printable ASCII characters."
  }),
  "gov-sandbox-scenario": Schema.optionalKey(
    Schema.String.annotate({
      description: `How the sandbox treats the invoice: ${SandboxScenario.Scenario.literals.join(", ")}. Test keys only. Defaults to ${SandboxScenario.defaultScenario}.`
    })
  )
}
