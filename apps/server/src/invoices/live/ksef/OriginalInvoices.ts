/** The statements that read which invoice a duplicate may be a copy of. */
import type { Ids } from "@govoice/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { SubmissionRow } from "./laneRows.ts"

export interface Statements {
  /**
   * Whether another invoice with the same document has no verdict yet, so that it may have its number. Of two that KSeF calls
   * duplicates, only the later one waits for the other.
   */
  readonly hasOpenCopy: (invoice: Pick<SubmissionRow, "id" | "sha256">) => Effect.Effect<boolean, SqlError.SqlError>
  /** The live invoice that has a KSeF number. */
  readonly invoiceOfNumber: (number: string) => Effect.Effect<Ids.InvoiceId | undefined, SqlError.SqlError>
}

/** Makes the statements. */
export const statements = (sql: SqlClient.SqlClient): Statements => ({
  hasOpenCopy: ({ id, sha256 }) =>
    Effect.map(
      sql`
        SELECT 1 FROM national_submissions
        WHERE state IN ('sending', 'sent') AND sha256 = ${sha256} AND invoice_id <> ${id}
          AND (code IS DISTINCT FROM 440 OR invoice_id < ${id})
        LIMIT 1
      `,
      ({ length }) => length > 0
    ),

  invoiceOfNumber: (number) =>
    Effect.map(
      sql<{ readonly id: Ids.InvoiceId }>`
        SELECT id FROM invoices WHERE official_number = ${number} AND mode = 'live' LIMIT 1
      `,
      ([row]) => row?.id
    )
})
