/** The rows that a lane reads, and the changes that it writes. */
import type { LoginStatuses } from "@govoice/ksef/protocol"
import type { Ids, Invoice } from "@govoice/core"
import type { ClaimedInvoice, PendingTransition } from "../ClaimedInvoice.ts"

export type SessionKind = "online" | "batch"

/** The changes of a session. `dueAt` is when a holder looks at it next. */
export interface SessionChange {
  readonly id: string
  readonly state?: "open" | "uploaded" | "closed" | "done" | "abandoned"
  readonly reference?: string
  readonly validUntil?: Date
  readonly code?: number
  readonly checkCount?: number
  readonly documentCount?: number
  readonly dueAt: Date | null
}

/** The changes of a submission. */
export interface SubmissionChange {
  readonly id: string
  readonly state?: "sent" | "decided" | "absent" | "refused"
  readonly reference?: string
  readonly code?: number
  readonly checkCount?: number
  readonly receiptCount?: number
  readonly sentAt?: Date
  /** The session of the accepted copy, where this one is its duplicate. */
  readonly originalSession?: string
  /** When the national system stored the document for good. */
  readonly storedAt?: Date
  readonly dueAt: Date | null
}

/** Why an invoice waits whose status does not change; null where nothing is wrong any more. */
export interface ReasonChange {
  readonly id: Ids.InvoiceId
  readonly failure: Invoice.Reason | null
}

/** Changes that are written together. No invoice has both a transition and a reason. */
export interface Changes {
  readonly reasons?: ReadonlyArray<ReasonChange>
  readonly sessions?: ReadonlyArray<SessionChange>
  readonly submissions?: ReadonlyArray<SubmissionChange>
  readonly transitions?: ReadonlyArray<PendingTransition>
  /** The submission once they are written, where its invoice is accepted and its receipt is due. */
  readonly accepted?: SubmissionRow
}

/** An invoice that waits to be sent. */
export interface WaitingInvoice {
  readonly id: Ids.InvoiceId
  readonly organization_id: Ids.OrganizationId
  readonly form_code: string | null
  readonly schema_version: string | null
  readonly issue_date: string | null
  readonly invoicing_mode: Invoice.InvoicingMode
  /** The invoice that it corrects technically, in an interactive session alone. */
  readonly corrects: Ids.InvoiceId | null
  readonly bytes: number
  /** Whether it was sent before, and not judged. */
  readonly is_resend: boolean
  /** Whether only a batch can carry it: it has an attachment, or an earlier answer said so. */
  readonly needs_batch: boolean
  /** The most documents of the next batch with it, where an earlier one was refused; 1 has it sent alone. */
  readonly batch_limit: number | null
  readonly due_at: Date
  /** When the next one of the organization will wait. */
  readonly next_at: Date | null
}

/** An organization of the lane. */
export interface LaneOrganization {
  readonly id: Ids.OrganizationId
  readonly credential_updated_at: Date
  readonly credential_state: "unchecked" | "accepted" | "refused"
  readonly credential_checked_at: Date | null
  /** The code of its last refusal, and how often it was refused since it was stored or accepted. */
  readonly refusal_code: LoginStatuses.CredentialCode | null
  readonly credential_refusals: number
}

/** An invoice that is claimed to be sent. */
export interface SendingInvoice extends ClaimedInvoice {
  readonly submission_id: string
  readonly first_failed_at: Date | null
}

/** The document of an invoice. */
export interface InvoiceXml {
  readonly id: Ids.InvoiceId
  readonly xml: string
}

/** A submission with its session and its invoice. */
export interface SubmissionRow extends ClaimedInvoice {
  readonly first_failed_at: Date | null
  readonly has_attachment: boolean
  readonly submission_id: string
  readonly session_id: string
  readonly session_organization_id: Ids.OrganizationId
  readonly session_reference: string | null
  /** Since when this login cannot read the session. */
  readonly session_unreadable_since: Date | null
  readonly original_session: string | null
  readonly session_kind: SessionKind
  readonly submission_state: "sending" | "sent" | "decided" | "absent" | "refused"
  readonly submission_reference: string | null
  readonly handed_over_at: Date
  readonly check_count: number
  readonly receipt_count: number
  readonly code: number | null
}

/** A session that a holder has something left to do for. */
export interface SessionRow {
  readonly id: string
  readonly organization_id: Ids.OrganizationId
  readonly kind: SessionKind
  readonly state: "opening" | "open" | "uploaded" | "closed"
  readonly reference: string | null
  readonly created_at: Date
  /** When KSeF ends it by itself, as far as it said. */
  readonly valid_until: Date | null
  /** When it is looked at next: a batch for its status, an interactive session to be closed. */
  readonly due_at: Date | null
  readonly check_count: number
  /** Since when this login cannot read it. */
  readonly unreadable_since: Date | null
}
