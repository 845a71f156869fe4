/**
 * The way out to a system that judges invoices: submit one, ask for its verdict, fetch its receipt.
 *
 * The sandbox stands behind this interface for test mode, a national system for live mode. A gateway answers with what
 * it learned and never decides what happens to the invoice: that is the state machine's business. It keeps nothing
 * between calls but caches; all it needs later is in `reference`, which the caller stores.
 *
 * @since 0.1.0
 */
import type { Ids, Invoice, Mode, SandboxScenario } from "@govoice/core"
import { Context, type Effect } from "effect"

/**
 * What a gateway is told of an invoice.
 *
 * @category models
 * @since 0.1.0
 */
export interface GatewayInvoice {
  readonly id: Ids.InvoiceId
  readonly organizationId: Ids.OrganizationId
  readonly mode: Mode.Mode
  /** The sandbox scenario; `null` for live invoices. */
  readonly scenario: SandboxScenario.Scenario | null
  /** The document, exactly as it was submitted. */
  readonly invoiceXml: string
  /** When it was stored, in milliseconds since the epoch. */
  readonly createdAt: number
  /** How many submissions were begun, this one included. */
  readonly attempt: number
  /**
   * Whether a worker was lost while it was at this very step. A submission may then have reached the system, although
   * nobody heard of it: it has to be found out before anything is submitted again.
   */
  readonly interrupted: boolean
  /** What an earlier answer said to keep; `null` before the first. */
  readonly reference: string | null
}

/**
 * The gateway failed for a while, and for certain nothing was handed over or changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Temporary {
  readonly _tag: "Temporary"
  readonly reason: Invoice.Reason
  /** How long to wait before the next attempt, in milliseconds; the caller's own schedule where absent. */
  readonly retryAfterMs?: number | undefined
}

/**
 * The gateway cannot go on with this invoice, whatever time passes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Permanent {
  readonly _tag: "Permanent"
  readonly reason: Invoice.Reason
}

/**
 * The system refused the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rejected {
  readonly _tag: "Rejected"
  readonly reason: Invoice.Reason
}

/**
 * The answer to a submission.
 *
 * **Details**
 *
 * `Ambiguous` says that nobody knows whether the system has the document, because the answer was lost. It must never be
 * submitted again blindly: the next call of `submit` gets the `reference` back and has to find out first.
 *
 * @category models
 * @since 0.1.0
 */
export type Submission =
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

/**
 * The answer to a question for the verdict.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict =
  | { readonly _tag: "Pending"; readonly pollAfterMs: number }
  | { readonly _tag: "Accepted"; readonly officialNumber: string; readonly receiptAfterMs: number }
  | Rejected
  | Temporary
  | Permanent

/**
 * The answer to a request for the receipt (UPO). `xml` are the bytes as they came, never written again.
 *
 * @category models
 * @since 0.1.0
 */
export type Receipt =
  | { readonly _tag: "Available"; readonly xml: Uint8Array }
  | { readonly _tag: "NotYet"; readonly retryAfterMs: number }
  | Temporary
  | Permanent

/**
 * One gateway.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvoiceGateway {
  /** How long after its arrival an invoice is submitted, in milliseconds. */
  readonly submitAfterMs: (scenario: SandboxScenario.Scenario | null) => number
  readonly submit: (invoice: GatewayInvoice) => Effect.Effect<Submission>
  readonly poll: (invoice: GatewayInvoice) => Effect.Effect<Verdict>
  readonly receipt: (invoice: GatewayInvoice) => Effect.Effect<Receipt>
}

/**
 * The gateways of a deployment, by mode. There is always one for test mode; `undefined` stands for a live mode that no
 * gateway is installed for.
 *
 * @category services
 * @since 0.1.0
 */
export class InvoiceGateways extends Context.Service<
  InvoiceGateways,
  { readonly test: InvoiceGateway; readonly live: InvoiceGateway | undefined }
>()("@govoice/server/gateway/InvoiceGateways") {}
