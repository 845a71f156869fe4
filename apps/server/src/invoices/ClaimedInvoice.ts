/** A claimed invoice, and the transitions that its processing leads to. */
import type { Ids, Invoice, InvoiceEvent, InvoiceState } from "@govoice/core"
import type { InvoiceRow } from "./InvoiceRow.ts"

/** A claimed invoice. */
export interface ClaimedInvoice extends InvoiceRow {
  readonly organization_id: Ids.OrganizationId
  readonly traceparent: string | null
  readonly sha256: Uint8Array
  readonly seller_nip: string | null
  readonly issue_date: string | null
  readonly invoice_number: string | null
  readonly form_code: string | null
  readonly schema_version: string | null
}

// A later version may add columns: Postgres refuses a prepared statement whose result would have others.
const names = [
  "id",
  "organization_id",
  "mode",
  "status",
  "scenario",
  "metadata",
  "document",
  "verification_url",
  "certificate_url",
  "invoicing_mode",
  "official_mode",
  "send_by",
  "corrects",
  "warnings",
  "official_number",
  "rejection",
  "failure",
  "upo_available",
  "attempt_count",
  "next_attempt_at",
  "created_at",
  "updated_at",
  "submitted_at",
  "completed_at",
  "traceparent",
  "first_failed_at"
]

/** The columns of a claimed invoice that are those of `invoices`, for a statement in which `table` has them. */
export const columnsOf = (table: string): string => names.map((name) => `${table}.${name}`).join(", ")

/** A change of an invoice, with the time when it is due next. */
export interface InvoiceTransition {
  readonly status: InvoiceState.Status
  /** When it happened. */
  readonly at: Date
  readonly dueAt: Date | null
  readonly emits: InvoiceEvent.EventType | null
  readonly nextAttemptAt?: Date | null
  readonly submittedAt?: Date
  readonly completedAt?: Date
  readonly officialNumber?: string
  readonly rejection?: Invoice.Reason
  readonly failure?: Invoice.Reason | null
  readonly receipt?: Uint8Array
  /** Added to those that the invoice has. */
  readonly warnings?: ReadonlyArray<Invoice.Warning>
  /** What the receipt says. */
  readonly officialMode?: Invoice.InvoicingMode
}

/** A claimed invoice and the transition to write. */
export interface PendingTransition {
  readonly invoice: ClaimedInvoice
  readonly transition: InvoiceTransition
  /** The stored status, where the claim of the invoice is not stored but part of the transition. */
  readonly statusBefore?: InvoiceState.Status
}
