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

// A live invoice is not tried while its taxpayer pauses. A next attempt whose time has come is one no more.
const nextAttemptAt = `
  CASE WHEN next_attempt_at IS NOT NULL THEN (
    SELECT at FROM (
      SELECT greatest(next_attempt_at, CASE mode WHEN 'live' THEN (
        SELECT to_timestamp(greatest((blocked->'lane'->>'until')::float8, (blocked->'sending'->>'until')::float8) / 1000)
        FROM organizations JOIN national_lanes ON context = credential_context
        WHERE organizations.id = invoices.organization_id
      ) END)
    ) AS attempt (at)
    WHERE at > now()
  ) END AS next_attempt_at`

/** Those columns, for a statement about `invoices`. */
export const columns = `id, mode, status, scenario, metadata, document, verification_url, certificate_url, invoicing_mode, official_mode, send_by, corrects, warnings,
  official_number, rejection, failure, upo_available, attempt_count,
  ${nextAttemptAt}, created_at, updated_at, submitted_at, completed_at`

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
