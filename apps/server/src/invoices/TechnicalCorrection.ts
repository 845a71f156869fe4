/**
 * Technical corrections: an invoice that was issued offline and rejected is replaced by one with the same content. Source:
 * offline/korekta-techniczna.md of CIRFMF/ksef-api.
 */
import { Ids, type InvoiceState } from "@govoice/core"
import { Data, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationSubmission } from "./SubmitInvoice.ts"

/** The invoice cannot be corrected so. `message` is a sentence for the sender. */
export class InvalidCorrection extends Data.TaggedError("InvalidCorrection")<{ readonly message: string }> {}

interface Corrected {
  readonly status: InvoiceState.Status
  readonly invoicing_mode: string
  readonly rejection_code: string | null
  readonly correction: string | null
}

const faultOf = (corrected: Corrected | undefined): string | undefined => {
  if (corrected === undefined) return "is not an invoice of this organization and mode."
  const { correction, invoicing_mode, rejection_code, status } = corrected
  if (invoicing_mode !== "offline") return "was not issued offline."
  if (status !== "rejected") return `is ${status}: only a rejected invoice can have a technical correction.`
  if (rejection_code === "seller_not_permitted") {
    return "was rejected for missing permissions, which a technical correction cannot fix."
  }
  return correction === null ? undefined : `has an accepted correction already: ${correction}.`
}

/** Makes the function that checks what a submission corrects, if anything. */
export const makeCheck = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const select = ({ mode, organizationId }: OrganizationSubmission, id: string) => sql<Corrected>`
    SELECT status, invoicing_mode, rejection->>'code' AS rejection_code, (
             SELECT id FROM invoices AS correction
             WHERE correction.corrects = invoices.id AND correction.status = 'accepted' LIMIT 1
           ) AS correction
    FROM invoices WHERE organization_id = ${organizationId} AND mode = ${mode} AND id = ${id}
  `

  return Effect.fnUntraced(function* (submission: OrganizationSubmission) {
    const { correctsInvoiceId: id } = submission
    if (id === undefined) return
    const [corrected] = Ids.is("inv", id) ? yield* Effect.orDie(select(submission, id)) : []
    const fault = faultOf(corrected)
    if (fault !== undefined)
      return yield* new InvalidCorrection({ message: `corrects_invoice_id: The invoice ${fault}` })
  })
})
