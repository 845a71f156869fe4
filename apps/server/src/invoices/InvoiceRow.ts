/**
 * A row of the `invoices` table, and the record that the API returns of it.
 */
import type { Ids, Invoice, InvoiceState, Metadata, Mode, SandboxScenario } from "@govoice/core"
import { iso, isoOrNull } from "../database/timestamps.ts"

/** The columns of the record. */
export interface InvoiceRow {
  readonly id: Ids.InvoiceId
  readonly mode: Mode.Mode
  readonly status: InvoiceState.Status
  readonly scenario: SandboxScenario.Scenario | null
  readonly metadata: Metadata.Metadata
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

/** The names of those columns, for a statement. */
export const columns =
  "id, mode, status, scenario, metadata, official_number, rejection, failure, upo_available, attempt_count, next_attempt_at, created_at, updated_at, submitted_at, completed_at"

/** Returns the record. Its members always have the same order. */
export const toApi = (row: InvoiceRow): Invoice.Invoice => ({
  id: row.id,
  object: "invoice",
  mode: row.mode,
  status: row.status,
  scenario: row.scenario,
  metadata: row.metadata,
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
