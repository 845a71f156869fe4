/**
 * Events as they are on the wire.
 *
 * @module
 */

/** What every invoice in an event has, as it stood when the event was made. */
interface InvoiceFields {
  /** `inv_…` */
  readonly id: string
  readonly object: "invoice"
  readonly mode: "test" | "live"
  /** The sandbox scenario of a test invoice; `null` in live mode. */
  readonly scenario: "accepted" | "rejected" | "temporary_failure" | "delayed" | null
  /** What was submitted with the invoice. */
  readonly metadata: { readonly [key: string]: string }
  /** The number that the national system assigned. */
  readonly official_number: string | null
  /** Why the national system refused the invoice. */
  readonly rejection: { readonly code: string; readonly message: string } | null
  /** The last failure on the way to the national system. */
  readonly failure: { readonly code: string; readonly message: string } | null
  /** Whether the official receipt can be downloaded. */
  readonly upo_available: boolean
  readonly attempt_count: number
  readonly next_attempt_at: string | null
  /** ISO 8601 UTC, like every time here. */
  readonly created_at: string
  readonly updated_at: string
  readonly submitted_at: string | null
  readonly completed_at: string | null
}

/** An invoice that was stored and waits for its turn. */
export interface ReceivedInvoice extends InvoiceFields {
  readonly status: "queued"
}

/** An invoice that the national system has and is deciding on. */
export interface SubmittedInvoice extends InvoiceFields {
  readonly status: "submitted"
  readonly submitted_at: string
}

/** An invoice with an official number. */
export interface AcceptedInvoice extends InvoiceFields {
  readonly status: "accepted"
  readonly official_number: string
  readonly completed_at: string
}

/** An accepted invoice whose official receipt is there. */
export interface ReceiptedInvoice extends AcceptedInvoice {
  readonly upo_available: true
}

/** An invoice that the national system refused. */
export interface RejectedInvoice extends InvoiceFields {
  readonly status: "rejected"
  readonly rejection: { readonly code: string; readonly message: string }
  readonly completed_at: string
}

/** An invoice without a verdict after all attempts. */
export interface FailedInvoice extends InvoiceFields {
  readonly status: "failed"
  readonly failure: { readonly code: string; readonly message: string }
  readonly completed_at: string
}

/** The invoice of an event, by the type of the event. */
export interface InvoiceByEventType {
  readonly "invoice.received": ReceivedInvoice
  readonly "invoice.submitted": SubmittedInvoice
  readonly "invoice.accepted": AcceptedInvoice
  readonly "invoice.upo_available": ReceiptedInvoice
  readonly "invoice.rejected": RejectedInvoice
  readonly "invoice.failed": FailedInvoice
}

/** The six types of events. */
export type InvoiceEventType = keyof InvoiceByEventType

interface EventFields {
  /** `evt_…`, the same on every attempt: de-duplicate by it. */
  readonly id: string
  readonly object: "event"
  readonly mode: "test" | "live"
  readonly created_at: string
}

/** An event of one of the six types. */
export type InvoiceEvent<Type extends InvoiceEventType = InvoiceEventType> = {
  readonly [T in Type]: EventFields & {
    readonly type: T
    readonly data: { readonly invoice: InvoiceByEventType[T] }
  }
}[Type]

declare enum Unrecognised {
  type = ""
}

/** A string that is none of the types known here. An ambient enum, because only a unit type lets `switch` narrow. */
export type UnknownEventType = Unrecognised.type

/** An event of a type that is younger than this version of the package. */
export interface UnknownEvent extends EventFields {
  readonly type: UnknownEventType
  readonly data: { readonly [key: string]: unknown }
}

/**
 * The event in a webhook. A comparison of `type` narrows `data.invoice`; the `default` branch of a `switch` is left
 * with {@link UnknownEvent}.
 *
 * **Gotchas**
 *
 * Types younger than this version arrive too. To compare `type` with one of them, widen it first:
 * `const type: string = event.type`.
 */
export type WebhookEvent = InvoiceEvent | UnknownEvent
