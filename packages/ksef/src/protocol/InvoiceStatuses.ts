/**
 * Every status of an invoice, and what becomes of the invoice.
 *
 * @since 0.1.0
 */

/**
 * The reaction of the gateway to a status.
 *
 * **Details**
 *
 * - `poll`: ask again later, for as long as it takes.
 * - `accept`: the invoice has a KSeF number.
 * - `reject`: KSeF refused the document for good.
 * - `resend`: KSeF did not judge the document; send the same bytes in another session.
 * - `send-in-batch`: reject, unless it was sent alone; then send it in a batch once.
 * - `resolve-duplicate`: find out whether the original is an earlier submission of the same invoice.
 * - `park`: log an error, ask again later, leave the verdict to an operator.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceAction = "poll" | "accept" | "reject" | "resend" | "send-in-batch" | "resolve-duplicate" | "park"

/**
 * The code of a rejected or failed invoice, as the API shows it.
 *
 * @category models
 * @since 0.1.0
 */
export type InvoiceCode =
  | "seller_not_permitted"
  | "attachment_not_allowed"
  | "correction_refused"
  | "file_refused"
  | "duplicate_invoice"
  | "duplicate_unresolved"
  | "invalid_document"
  | "national_system_error"
  | "unknown_verdict"

/**
 * One status.
 *
 * **Details**
 *
 * - `final`: whether KSeF will never change it.
 * - `action`: what the gateway does.
 * - `shown`: the codes that the user can come to see because of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly meaning: string
  readonly final: boolean
  readonly action: InvoiceAction
  readonly shown: ReadonlyArray<InvoiceCode>
}

/**
 * The documented statuses, by code.
 *
 * @category constants
 * @since 0.1.0
 */
export const invoiceStatuses: Readonly<Record<number, Row>> = {
  100: { meaning: "taken for processing", final: false, action: "poll", shown: [] },
  150: { meaning: "being processed", final: false, action: "poll", shown: [] },
  200: { meaning: "success", final: true, action: "accept", shown: [] },
  405: {
    meaning: "canceled because of an error of its session",
    final: true,
    action: "resend",
    shown: ["national_system_error"]
  },
  410: {
    meaning: "not entitled: the seller is not the context, or a right is missing",
    final: true,
    action: "reject",
    shown: ["seller_not_permitted"]
  },
  415: {
    meaning: "an invoice with an attachment cannot be sent in this way",
    final: true,
    action: "send-in-batch",
    shown: ["attachment_not_allowed"]
  },
  430: {
    meaning: "size or hash of the file do not fit, or it begins with a byte order mark",
    final: true,
    action: "reject",
    shown: ["file_refused"]
  },
  435: {
    meaning: "the file cannot be decrypted",
    final: true,
    action: "resend",
    shown: ["national_system_error"]
  },
  440: {
    meaning: "duplicate of an accepted invoice",
    final: true,
    action: "resolve-duplicate",
    shown: ["duplicate_invoice", "duplicate_unresolved"]
  },
  450: {
    meaning: "the document breaks the schema or another rule",
    final: true,
    action: "reject",
    shown: ["invalid_document"]
  },
  500: { meaning: "unknown error", final: true, action: "resend", shown: ["national_system_error"] },
  550: { meaning: "canceled by the system", final: true, action: "resend", shown: ["national_system_error"] }
}

const unknownVerdict: Row = { meaning: "not documented", final: false, action: "park", shown: ["unknown_verdict"] }

/**
 * Returns what a status means, also one that is not documented. Success without a KSeF number is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const invoiceStatus = (code: number, ksefNumber: string | null | undefined): Row => {
  if (code === 200 && !ksefNumber) return unknownVerdict
  return (
    invoiceStatuses[code] ?? (code < 200 ? { ...invoiceStatuses[150]!, meaning: "not documented" } : unknownVerdict)
  )
}
