/** Makes the transitions of live invoices. Pure: time is an argument. */
import { type Invoice, InvoiceState } from "@govoice/core"
import { Result } from "effect"
import * as LaneRules from "./LaneRules.ts"
import type { ClaimedInvoice, PendingTransition, InvoiceTransition } from "../ClaimedInvoice.ts"

const at = (
  invoice: ClaimedInvoice,
  trigger: Exclude<InvoiceState.Trigger, "claim">,
  now: number
): Pick<InvoiceTransition, "status" | "emits" | "at"> => ({
  status: Result.getOrThrow(InvoiceState.next(invoice.status, trigger)),
  emits: InvoiceState.emits[trigger],
  at: new Date(now)
})

/** The national system has the document, and sent these warnings. An invoice that is sent again stays submitted. */
export const submitted = (
  invoice: ClaimedInvoice,
  now: number,
  warnings: ReadonlyArray<Invoice.Warning> = []
): ReadonlyArray<PendingTransition> =>
  invoice.status === "submitted"
    ? []
    : [
        {
          invoice,
          transition: {
            ...at(invoice, "submit", now),
            dueAt: new Date(now),
            submittedAt: new Date(now),
            warnings,
            failure: null
          }
        }
      ]

export const accepted = (invoice: ClaimedInvoice, officialNumber: string, now: number): PendingTransition => ({
  invoice,
  transition: {
    ...at(invoice, "accept", now),
    dueAt: null,
    completedAt: new Date(now),
    officialNumber,
    failure: null
  }
})

export const rejected = (invoice: ClaimedInvoice, rejection: Invoice.Reason, now: number): PendingTransition => ({
  invoice,
  transition: {
    ...at(invoice, "reject", now),
    dueAt: null,
    completedAt: new Date(now),
    rejection,
    failure: null
  }
})

export const failed = (invoice: ClaimedInvoice, failure: Invoice.Reason, now: number): PendingTransition => ({
  invoice,
  transition: { ...at(invoice, "fail", now), dueAt: null, completedAt: new Date(now), failure }
})

/** `officialMode` is how the national system took the invoice, as the receipt says. */
export const receipt = (
  invoice: ClaimedInvoice,
  xml: Uint8Array,
  now: number,
  officialMode?: Invoice.InvoicingMode
): PendingTransition => ({
  invoice,
  transition: {
    ...at(invoice, "receipt", now),
    dueAt: null,
    receipt: xml,
    ...(officialMode === undefined ? {} : { officialMode })
  }
})

const retried = (
  invoice: ClaimedInvoice,
  failure: Invoice.Reason,
  retryAtMs: number,
  now: number
): PendingTransition => {
  const retryAt = new Date(retryAtMs)
  return { invoice, transition: { ...at(invoice, "retry", now), dueAt: retryAt, nextAttemptAt: retryAt, failure } }
}

/** Not sent, and not an attempt: the invoice waits until a time. */
export const postponed = (
  invoice: ClaimedInvoice,
  failure: Invoice.Reason,
  until: number,
  now: number
): PendingTransition =>
  retried({ ...invoice, attempt_count: Math.max(0, invoice.attempt_count - 1) }, failure, until, now)

/** How long an invoice is tried that was not sent. */
export interface GiveUp {
  readonly giveUpMs: number
  readonly random: number
  /** The earliest time of the next attempt, where the failed one was told it. */
  readonly notBefore?: number
}

/** An invoice, and when it was first not sent. */
type TriedInvoice = ClaimedInvoice & { readonly first_failed_at: Date | null }

const firstAttemptAge = ({ first_failed_at }: TriedInvoice, now: number): number =>
  first_failed_at === null ? 0 : now - first_failed_at.getTime()

/** Not sent: the attempt failed, and there is another one until `giveUpMs`. */
export const attemptFailed = (
  invoice: TriedInvoice,
  failure: Invoice.Reason,
  now: number,
  { giveUpMs, notBefore = 0, random }: GiveUp
): PendingTransition => {
  const firstAttemptAgeMs = firstAttemptAge(invoice, now)
  const wait = LaneRules.retryWait({ attempt: invoice.attempt_count, firstAttemptAgeMs, giveUpMs, random })
  return wait === undefined
    ? failed(invoice, failure, now)
    : retried(invoice, failure, Math.max(now + wait, notBefore), now)
}

/** Not sent with its batch, and not an attempt of the invoice: it waits until a time, or fails after `giveUpMs`. */
export const batchFailed = (
  invoice: TriedInvoice,
  failure: Invoice.Reason,
  { giveUpMs, retryAt }: { readonly giveUpMs: number; readonly retryAt: number },
  now: number
): PendingTransition =>
  firstAttemptAge(invoice, now) >= giveUpMs ? failed(invoice, failure, now) : postponed(invoice, failure, retryAt, now)
