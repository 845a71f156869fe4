/**
 * Types of events in wire format.
 *
 * @module
 * @since 0.1.0
 */

/** The members of an invoice in an event, as of its transition. */
interface InvoiceFields {
  /** `inv_…` */
  readonly id: string
  readonly object: "invoice"
  readonly mode: "test" | "live"
  /** The sandbox scenario of a test invoice; `null` in live mode. */
  readonly scenario: "accepted" | "rejected" | "temporary_failure" | "delayed" | null
  /** The metadata that was submitted with the invoice. */
  readonly metadata: { readonly [key: string]: string }
  /** What the document says; `null` if it is of no form that is known. A member that it does not have is `null`. */
  readonly document: {
    /** Such as `FA (3)`. */
    readonly form: string
    /** Such as `VAT` or `KOR`. */
    readonly kind: string | null
    /** The number that the seller gave the invoice. */
    readonly number: string | null
    /** `YYYY-MM-DD` */
    readonly issue_date: string | null
    readonly currency: string | null
    /** The total with tax, in the digits of the document. */
    readonly total: string | null
    readonly seller: { readonly tax_id: string | null; readonly name: string | null } | null
    readonly buyer: { readonly tax_id: string | null; readonly name: string | null } | null
  } | null
  /**
   * The link behind the QR code to print on the invoice, and the text below it. `certificate_url` is the link behind the second code
   * of an invoice that was issued offline.
   */
  readonly verification: {
    readonly url: string
    readonly label: string
    readonly certificate_url: string | null
  } | null
  /** How the invoice was issued, as submitted. */
  readonly invoicing_mode: "online" | "offline"
  /** How the national system took it, as its receipt says. */
  readonly official_mode: "online" | "offline" | null
  /** The last day for sending an invoice that was issued offline, `YYYY-MM-DD`. */
  readonly send_by: string | null
  /** The rejected invoice that this one corrects technically. */
  readonly corrects: string | null
  /** What the national system takes, and the seller should look at; empty where there is none. */
  readonly warnings: ReadonlyArray<{
    readonly code: string
    readonly message: string
    /** From 1; `null` where the warning is about no place in the document. */
    readonly line: number | null
    readonly column: number | null
  }>
  /** The number that the national system assigned. */
  readonly official_number: string | null
  /** The reason for the rejection. */
  readonly rejection: { readonly code: string; readonly message: string } | null
  /** Why the invoice waits or failed. */
  readonly failure: { readonly code: string; readonly message: string } | null
  /** Whether the official receipt can be downloaded. */
  readonly upo_available: boolean
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  /** ISO 8601 in UTC, like all timestamps. */
  readonly created_at: string
  readonly updated_at: string
  readonly submitted_at: string | null
  readonly completed_at: string | null
}

/**
 * An invoice that is stored and queued.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReceivedInvoice extends InvoiceFields {
  readonly status: "queued"
}

/**
 * An invoice that the national system has received.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubmittedInvoice extends InvoiceFields {
  readonly status: "submitted"
  readonly submitted_at: string
}

/**
 * An invoice with an official number.
 *
 * @category models
 * @since 0.1.0
 */
export interface AcceptedInvoice extends InvoiceFields {
  readonly status: "accepted"
  readonly official_number: string
  readonly completed_at: string
}

/**
 * An accepted invoice whose receipt (UPO) can be downloaded.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReceiptedInvoice extends AcceptedInvoice {
  readonly upo_available: true
}

/**
 * An invoice that the national system rejected.
 *
 * @category models
 * @since 0.1.0
 */
export interface RejectedInvoice extends InvoiceFields {
  readonly status: "rejected"
  readonly rejection: { readonly code: string; readonly message: string }
  readonly completed_at: string
}

/**
 * An invoice whose processing ended without acceptance or rejection: all attempts failed, one failed permanently, or an
 * operator ended it. `failure` has the reason.
 *
 * @category models
 * @since 0.1.0
 */
export interface FailedInvoice extends InvoiceFields {
  readonly status: "failed"
  readonly failure: { readonly code: string; readonly message: string }
  readonly completed_at: string
}

/**
 * The type of the invoice for each event type.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceByEventType {
  readonly "invoice.received": ReceivedInvoice
  readonly "invoice.submitted": SubmittedInvoice
  readonly "invoice.accepted": AcceptedInvoice
  readonly "invoice.upo_available": ReceiptedInvoice
  readonly "invoice.rejected": RejectedInvoice
  readonly "invoice.failed": FailedInvoice
}

/**
 * The event types.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceEventType = keyof InvoiceByEventType

interface EventFields {
  /** `evt_…`, the same on every attempt. Deduplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly mode: "test" | "live"
  readonly created_at: string
}

/**
 * An event of a known type.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceEvent<Type extends InvoiceEventType = InvoiceEventType> = {
  readonly [T in Type]: EventFields & {
    readonly type: T
    readonly data: { readonly invoice: InvoiceByEventType[T] }
  }
}[Type]

declare enum Unrecognized {
  type = ""
}

/**
 * A string that is none of the known types. It is an ambient enum because `switch` narrows unit types only.
 *
 * @category models
 * @since 0.1.0
 */
export type UnknownEventType = Unrecognized.type

/**
 * An event of a type that this version of the package does not know.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownEvent extends EventFields {
  readonly type: UnknownEventType
  readonly data: { readonly [key: string]: unknown }
}

/**
 * The event of a webhook. Comparing `type` narrows `data.invoice`; the `default` branch of a `switch` has type
 * {@link UnknownEvent}.
 *
 * **Gotchas**
 *
 * Types that are added to the service later arrive too. To compare `type` with such a type, widen it first:
 * `const type: string = event.type`.
 *
 * @category models
 * @since 0.1.0
 */
export type WebhookEvent = InvoiceEvent | UnknownEvent
