/** A claimed invoice, and the transitions that its processing leads to. */
import type { Ids, Invoice, InvoiceEvent, InvoiceState } from "@govoice/core"
import type { InvoiceRow } from "./InvoiceRow.ts"

/** A claimed invoice. */
export interface ClaimedInvoice extends InvoiceRow {
  readonly organization_id: Ids.OrganizationId
  readonly reference: string | null
  readonly traceparent: string | null
  readonly sha256: Uint8Array
  readonly seller_nip: string | null
  readonly issue_date: string | null
  readonly invoice_number: string | null
  readonly form_code: string | null
  readonly schema_version: string | null
  /** The fencing token of this claim. */
  readonly fencing_token: number
  readonly interruption_count: number
  readonly quarantine_interruption_count: number
}

/** A change of an invoice, with the time when it is due next. Writing it releases the lease. */
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
  readonly reference?: string
  readonly rejection?: Invoice.Reason
  readonly failure?: Invoice.Reason | null
  readonly receipt?: Uint8Array
  /** Whether processing the invoice interrupted the quarantine process. */
  readonly interrupted?: boolean
}

/** A claimed invoice and the transition to write. */
export interface PendingTransition {
  readonly invoice: ClaimedInvoice
  readonly transition: InvoiceTransition
  /** The stored status, where the claim of the invoice is not stored but part of the transition. */
  readonly statusBefore?: InvoiceState.Status
}
