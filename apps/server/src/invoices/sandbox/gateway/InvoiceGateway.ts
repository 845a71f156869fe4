/**
 * The interface of the system that decides about invoices of test mode: submit one, poll its status, fetch its receipt. Those
 * of live mode go by lanes, see `live/LaneQueue.ts`.
 *
 * Only the sandbox and its quarantine implement it. A gateway returns what it learned; the state machine
 * decides what becomes of the invoice. A gateway stores nothing but caches: what it needs later is in `reference`, which
 * the caller stores.
 */
import type { Ids, Invoice, Mode, SandboxScenario } from "@govoice/core"
import { Context, type Effect } from "effect"
import type { Summary } from "../../xml/InvoiceDocument.ts"

/** An invoice as a gateway sees it. */
export interface GatewayInvoice {
  readonly id: Ids.InvoiceId
  readonly organizationId: Ids.OrganizationId
  readonly mode: Mode.Mode
  /** The sandbox scenario; `null` for live invoices. */
  readonly scenario: SandboxScenario.Scenario | null
  readonly summary: Omit<Summary, "hasAttachment">
  /** When it was stored, in milliseconds since the epoch. */
  readonly createdAt: number
  /** How many attempts to submit have begun, this one included. */
  readonly attempt: number
  /**
   * Whether an earlier attempt was interrupted. Its submission may have reached the system: look it up before submitting
   * again.
   */
  readonly interrupted: boolean
  /** The reference that an earlier answer returned; `null` before the first. */
  readonly reference: string | null
}

/** A transient failure. The gateway is certain that nothing was submitted or changed. */
export interface Temporary {
  readonly _tag: "Temporary"
  readonly reason: Invoice.Reason
  /** The wait before the next attempt, in milliseconds; the caller's own schedule where absent. */
  readonly retryAfterMs?: number | undefined
}

/** A permanent failure: no later attempt can succeed. */
export interface Permanent {
  readonly _tag: "Permanent"
  readonly reason: Invoice.Reason
}

/** The system rejected the document. */
export interface Rejected {
  readonly _tag: "Rejected"
  readonly reason: Invoice.Reason
}

/**
 * The answer to a submission.
 *
 * `Ambiguous` means that the response was lost, so the system may or may not have the document. The next call of `submit`
 * has the `reference` and must find out before it submits again.
 */
export type SubmitAnswer =
  | { readonly _tag: "Submitted"; readonly reference: string; readonly pollAfterMs: number }
  | {
      readonly _tag: "Ambiguous"
      readonly reference: string
      readonly reason: Invoice.Reason
      readonly retryAfterMs: number
    }
  | Rejected
  | Temporary
  | Permanent

/** The answer to a poll. */
export type PollAnswer =
  | { readonly _tag: "Pending"; readonly pollAfterMs: number }
  | { readonly _tag: "Accepted"; readonly officialNumber: string; readonly receiptAfterMs: number }
  | Rejected
  | Temporary
  | Permanent

/** The answer to a request for the receipt (UPO). `xml` is stored byte for byte. */
export type ReceiptAnswer =
  | { readonly _tag: "Available"; readonly xml: Uint8Array }
  | { readonly _tag: "NotYet"; readonly retryAfterMs: number }
  | Temporary
  | Permanent

/** One gateway. */
export interface InvoiceGateway {
  /** Returns the delay between storing and submitting an invoice, in milliseconds. */
  readonly submitAfterMs: (scenario: SandboxScenario.Scenario | null) => number
  readonly submit: (invoice: GatewayInvoice) => Effect.Effect<SubmitAnswer>
  readonly poll: (invoice: GatewayInvoice) => Effect.Effect<PollAnswer>
  readonly receipt: (invoice: GatewayInvoice) => Effect.Effect<ReceiptAnswer>
}

/** The gateway of test mode. Live invoices go by the lanes of the national system. */
export class InvoiceGateways extends Context.Service<InvoiceGateways, { readonly test: InvoiceGateway }>()(
  "@govoice/server/invoices/sandbox/gateway/InvoiceGateways"
) {}
