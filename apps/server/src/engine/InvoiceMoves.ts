/**
 * What a gateway is told of an invoice, and what its answer makes of it, as the state machine has it.
 *
 * Pure: the time and the randomness of waits are arguments.
 *
 * @since 0.1.0
 */
import { type Invoice, InvoiceState, RetrySchedule } from "@govoice/core"
import { Result } from "effect"
import type { GatewayInvoice, Receipt, Submission, Verdict } from "../gateway/InvoiceGateway.ts"
import type { ClaimedInvoice, Move } from "./InvoiceQueue.ts"

/**
 * The moment of an answer: milliseconds since the epoch, and a number in [0, 1) that spreads waits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Moment {
  readonly now: number
  readonly random: number
}

/**
 * What a gateway is told of an invoice.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toGatewayInvoice = (invoice: ClaimedInvoice): GatewayInvoice => ({
  id: invoice.id,
  organizationId: invoice.organization_id,
  mode: invoice.mode,
  scenario: invoice.scenario,
  invoiceXml: invoice.xml,
  createdAt: invoice.created_at.getTime(),
  attempt: invoice.attempt_count,
  interrupted: invoice.taken_over,
  reference: invoice.reference
})

// How soon a gateway is asked again for a verdict or a receipt when it failed and did not say.
const askAgainMs = 30_000

type Trigger = Exclude<InvoiceState.Trigger, "claim">

// A claimed invoice can always take what its gateway may answer: anything else is a mistake of ours.
const follow = (invoice: ClaimedInvoice, trigger: Trigger, { now }: Moment) => ({
  status: Result.getOrThrow(InvoiceState.next(invoice.status, trigger)),
  emits: InvoiceState.emits[trigger],
  at: new Date(now)
})

const afterMs = ({ now }: Moment, milliseconds: number): Date => new Date(now + milliseconds)

const stay = (invoice: ClaimedInvoice, moment: Moment, dueAt: Date | null): Move => ({
  status: invoice.status,
  emits: null,
  at: new Date(moment.now),
  dueAt
})

const rejected = (invoice: ClaimedInvoice, moment: Moment, rejection: Invoice.Reason): Move => ({
  ...follow(invoice, "reject", moment),
  dueAt: null,
  completedAt: new Date(moment.now),
  rejection,
  failure: null
})

const failed = (invoice: ClaimedInvoice, moment: Moment, failure: Invoice.Reason): Move => ({
  ...follow(invoice, "fail", moment),
  dueAt: null,
  completedAt: new Date(moment.now),
  failure
})

const retrying = (
  invoice: ClaimedInvoice,
  moment: Moment,
  failure: Invoice.Reason,
  waitMs: number | undefined
): Move => {
  if (waitMs === undefined) return failed(invoice, moment, failure)
  const at = afterMs(moment, waitMs)
  return { ...follow(invoice, "retry", moment), dueAt: at, nextAttemptAt: at, failure }
}

/**
 * What the answer to a submission makes of the invoice.
 *
 * **Details**
 *
 * An ambiguous outcome keeps its reference, however many attempts there were: the next call has to find out what became
 * of it. After a failure there are as many attempts as `RetrySchedule` has, at its times where the gateway names none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const afterSubmission = (invoice: ClaimedInvoice, answer: Submission, moment: Moment): Move => {
  switch (answer._tag) {
    case "Submitted":
      return {
        ...follow(invoice, "submit", moment),
        dueAt: afterMs(moment, answer.pollAfterMs),
        submittedAt: new Date(moment.now),
        reference: answer.reference,
        failure: null
      }
    case "Ambiguous":
      return { ...retrying(invoice, moment, answer.reason, answer.retryAfterMs), reference: answer.reference }
    case "Rejected":
      return rejected(invoice, moment, answer.reason)
    case "Temporary": {
      const { retryAfterMs } = answer
      const wait = RetrySchedule.nextWait({ attempt: invoice.attempt_count, random: moment.random })
      return retrying(invoice, moment, answer.reason, wait === undefined ? undefined : (retryAfterMs ?? wait))
    }
    case "Permanent":
      return failed(invoice, moment, answer.reason)
  }
}

/**
 * What the answer to a question for the verdict makes of the invoice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const afterPoll = (invoice: ClaimedInvoice, answer: Verdict, moment: Moment): Move => {
  switch (answer._tag) {
    case "Pending":
      return stay(invoice, moment, afterMs(moment, answer.pollAfterMs))
    case "Accepted":
      return {
        ...follow(invoice, "accept", moment),
        dueAt: afterMs(moment, answer.receiptAfterMs),
        completedAt: new Date(moment.now),
        officialNumber: answer.officialNumber
      }
    case "Rejected":
      return rejected(invoice, moment, answer.reason)
    case "Temporary":
      return stay(invoice, moment, afterMs(moment, answer.retryAfterMs ?? askAgainMs))
    case "Permanent":
      return failed(invoice, moment, answer.reason)
  }
}

/**
 * What the answer to a request for the receipt makes of the invoice. One that can never come is no longer waited for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const afterReceipt = (invoice: ClaimedInvoice, answer: Receipt, moment: Moment): Move => {
  switch (answer._tag) {
    case "Available":
      return { ...follow(invoice, "receipt", moment), dueAt: null, receipt: answer.xml }
    case "NotYet":
      return stay(invoice, moment, afterMs(moment, answer.retryAfterMs))
    case "Temporary":
      return stay(invoice, moment, afterMs(moment, answer.retryAfterMs ?? askAgainMs))
    case "Permanent":
      return stay(invoice, moment, null)
  }
}
