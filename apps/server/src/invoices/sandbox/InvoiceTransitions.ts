/**
 * Maps a claimed invoice to a gateway request, and the gateway's answer to a transition of the state machine.
 *
 * Pure: time and randomness are arguments.
 */
import { type Invoice, InvoiceState } from "@govoice/core"
import { Backoff } from "@govoice/dispatcher"
import { Result } from "effect"
import * as Interruptions from "../../jobs/Interruptions.ts"
import type { GatewayInvoice, PollAnswer, ReceiptAnswer, SubmitAnswer } from "./gateway/InvoiceGateway.ts"
import type { ClaimedInvoice, InvoiceTransition } from "../ClaimedInvoice.ts"

/** The time of an answer in milliseconds since the epoch, and a random number in [0, 1) for the jitter. */
export interface TransitionContext {
  readonly now: number
  readonly random: number
}

/** Returns the request to the gateway. */
export const toGatewayInvoice = (invoice: ClaimedInvoice): GatewayInvoice => ({
  id: invoice.id,
  organizationId: invoice.organization_id,
  mode: invoice.mode,
  scenario: invoice.scenario,
  summary: {
    sha256: invoice.sha256,
    sellerNip: invoice.seller_nip,
    issueDate: invoice.issue_date,
    invoiceNumber: invoice.invoice_number,
    formCode: invoice.form_code,
    schemaVersion: invoice.schema_version
  },
  createdAt: invoice.created_at.getTime(),
  attempt: invoice.attempt_count,
  interrupted: invoice.interruption_count > 0,
  reference: invoice.reference
})

// The wait before a verdict or receipt is polled again when the gateway failed without naming a time.
const pollRetryMs = 30_000

type Trigger = Exclude<InvoiceState.Trigger, "claim">

// Every answer of a gateway is legal for a claimed invoice, so an illegal transition is a defect.
const transition = (invoice: ClaimedInvoice, trigger: Trigger, { now }: TransitionContext) => ({
  status: Result.getOrThrow(InvoiceState.next(invoice.status, trigger)),
  emits: InvoiceState.emits[trigger],
  at: new Date(now)
})

const afterMs = ({ now }: TransitionContext, milliseconds: number): Date => new Date(now + milliseconds)

const reschedule = (invoice: ClaimedInvoice, context: TransitionContext, dueAt: Date | null): InvoiceTransition => ({
  status: invoice.status,
  emits: null,
  at: new Date(context.now),
  dueAt
})

const rejected = (
  invoice: ClaimedInvoice,
  context: TransitionContext,
  rejection: Invoice.Reason
): InvoiceTransition => ({
  ...transition(invoice, "reject", context),
  dueAt: null,
  completedAt: new Date(context.now),
  rejection,
  failure: null
})

const failed = (invoice: ClaimedInvoice, context: TransitionContext, failure: Invoice.Reason): InvoiceTransition => ({
  ...transition(invoice, "fail", context),
  dueAt: null,
  completedAt: new Date(context.now),
  failure
})

const retrying = (
  invoice: ClaimedInvoice,
  context: TransitionContext,
  failure: Invoice.Reason,
  waitMs: number | undefined
): InvoiceTransition => {
  if (waitMs === undefined) return failed(invoice, context, failure)
  const at = afterMs(context, waitMs)
  return { ...transition(invoice, "retry", context), dueAt: at, nextAttemptAt: at, failure }
}

/**
 * Returns the transition after a submission.
 *
 * An ambiguous outcome keeps its reference, so that the next call can look it up. Failures are retried as often as
 * `Backoff.defaultSchedule` allows, at its times unless the gateway names one.
 */
export const afterSubmission = (
  invoice: ClaimedInvoice,
  answer: SubmitAnswer,
  context: TransitionContext
): InvoiceTransition => {
  switch (answer._tag) {
    case "Submitted":
      return {
        ...transition(invoice, "submit", context),
        dueAt: afterMs(context, answer.pollAfterMs),
        submittedAt: new Date(context.now),
        reference: answer.reference,
        failure: null
      }
    case "Ambiguous":
      return { ...retrying(invoice, context, answer.reason, answer.retryAfterMs), reference: answer.reference }
    case "Rejected":
      return rejected(invoice, context, answer.reason)
    case "Temporary": {
      const { retryAfterMs } = answer
      const wait = Backoff.nextDelay({ attempt: invoice.attempt_count, random: () => context.random })
      return retrying(invoice, context, answer.reason, wait === undefined ? undefined : (retryAfterMs ?? wait))
    }
    case "Permanent":
      return failed(invoice, context, answer.reason)
  }
}

/** Returns the transition after polling for the verdict. */
export const afterPoll = (
  invoice: ClaimedInvoice,
  answer: PollAnswer,
  context: TransitionContext
): InvoiceTransition => {
  switch (answer._tag) {
    case "Pending":
      return reschedule(invoice, context, afterMs(context, answer.pollAfterMs))
    case "Accepted":
      return {
        ...transition(invoice, "accept", context),
        dueAt: afterMs(context, answer.receiptAfterMs),
        completedAt: new Date(context.now),
        officialNumber: answer.officialNumber
      }
    case "Rejected":
      return rejected(invoice, context, answer.reason)
    case "Temporary":
      return reschedule(invoice, context, afterMs(context, answer.retryAfterMs ?? pollRetryMs))
    case "Permanent":
      return failed(invoice, context, answer.reason)
  }
}

/** Returns the transition after requesting the receipt. A permanent error ends the polling. */
export const afterReceipt = (
  invoice: ClaimedInvoice,
  answer: ReceiptAnswer,
  context: TransitionContext
): InvoiceTransition => {
  switch (answer._tag) {
    case "Available":
      return { ...transition(invoice, "receipt", context), dueAt: null, receipt: answer.xml }
    case "NotYet":
      return reschedule(invoice, context, afterMs(context, answer.retryAfterMs))
    case "Temporary":
      return reschedule(invoice, context, afterMs(context, answer.retryAfterMs ?? pollRetryMs))
    case "Permanent":
      return reschedule(invoice, context, null)
  }
}

/** The failure that an invoice shows after an attempt that was interrupted. */
export const interrupted: Invoice.Reason = {
  code: "processing_interrupted",
  message: "The attempt was interrupted."
}

/**
 * Returns the transition after an attempt that interrupted the quarantine process. After
 * `Interruptions.maxInQuarantine` of them the invoice fails; the polling for the receipt of an accepted one ends.
 */
export const afterInterruption = (invoice: ClaimedInvoice, context: TransitionContext): InvoiceTransition => {
  const isLast = invoice.quarantine_interruption_count + 1 >= Interruptions.maxInQuarantine
  const wait = Interruptions.nextWait(invoice.interruption_count + 1, context.random, Backoff.defaultSchedule)
  if (invoice.status === "submitting" && !isLast) {
    return { ...retrying(invoice, context, interrupted, wait), interrupted: true }
  }
  if (invoice.status === "accepted" || !isLast) {
    return { ...reschedule(invoice, context, isLast ? null : afterMs(context, wait)), interrupted: true }
  }
  const stopped = {
    code: interrupted.code,
    message: "Processing was stopped because it repeatedly interrupted the sender."
  }
  return { ...failed(invoice, context, stopped), interrupted: true }
}
