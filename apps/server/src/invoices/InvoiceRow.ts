/**
 * A row of the `invoices` table, and the record that the API returns of it.
 */
import type { Ids, Invoice, InvoiceState, Metadata, Mode, SandboxScenario } from "@govoice/core"
import type { Statement } from "effect/sql"
import { iso, isoOrNull } from "../database/timestamps.ts"
import { shownFailure, shownNextAttempt } from "./ksef/waitReason.sql.ts"

/** The columns of the record. */
export interface InvoiceRow {
  readonly id: Ids.InvoiceId
  readonly mode: Mode.Mode
  readonly status: InvoiceState.Status
  readonly scenario: SandboxScenario.Scenario | null
  readonly metadata: Metadata.Metadata
  readonly document: Invoice.Document | null
  readonly verification_url: string | null
  readonly certificate_url: string | null
  readonly invoicing_mode: Invoice.InvoicingMode
  readonly official_mode: Invoice.InvoicingMode | null
  readonly send_by: string | null
  readonly corrects: Ids.InvoiceId | null
  /** Null where there is none. */
  readonly warnings: ReadonlyArray<Invoice.Warning> | null
  readonly official_number: string | null
  readonly rejection: Invoice.Reason | null
  readonly failure: Invoice.Reason | null
  readonly upo_available: boolean
  readonly attempt_count: number
  readonly next_attempt_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly submitted_at: Date | null
  readonly completed_at: Date | null
}

/** Those columns, for a statement about `invoices`. */
export const columns = (sql: Statement.Constructor, now: Statement.Fragment): Statement.Fragment => sql`
  id, mode, status, scenario, metadata, document, verification_url, certificate_url, invoicing_mode, official_mode, send_by, corrects,
  warnings, official_number, rejection, ${shownFailure(sql, now)} AS failure, upo_available, attempt_count,
  ${shownNextAttempt(sql, now)} AS next_attempt_at, created_at, updated_at, submitted_at, completed_at
`

/** Returns the record. Its members always have the same order. */
export const toApi = (row: InvoiceRow): Invoice.Invoice => ({
  id: row.id,
  object: "invoice",
  mode: row.mode,
  status: row.status,
  scenario: row.scenario,
  metadata: row.metadata,
  document: row.document,
  verification:
    row.verification_url === null
      ? null
      : {
          url: row.verification_url,
          label: row.official_number ?? "OFFLINE",
          certificate_url: row.certificate_url
        },
  invoicing_mode: row.invoicing_mode,
  official_mode: row.official_mode,
  send_by: row.send_by,
  corrects: row.corrects,
  warnings: row.warnings ?? [],
  official_number: row.official_number,
  rejection: row.rejection,
  failure: row.failure,
  upo_available: row.upo_available,
  attempt_count: row.attempt_count,
  next_attempt_at: isoOrNull(row.next_attempt_at),
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  submitted_at: isoOrNull(row.submitted_at),
  completed_at: isoOrNull(row.completed_at)
})
