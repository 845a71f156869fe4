/** Decides what follows a send that failed: retry, wait or failure of the invoice. Pure: time and randomness are arguments. */
import type { StepFailure } from "./LaneContext.ts"
import type { Changes, SendingInvoice, SubmissionChange } from "./laneRows.ts"
import * as liveTransitions from "./liveTransitions.ts"

/** The outcome of an invoice that was not sent, as changes to write. */
export const notSent = (
  invoice: SendingInvoice,
  failure: StepFailure,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const submission = (dueAt: number | null): SubmissionChange => ({
    id: invoice.submission_id,
    state: "refused",
    dueAt: dueAt === null ? null : new Date(dueAt)
  })
  // Sent before: the invoice stays submitted, and the submission says when it is sent again.
  if (invoice.status === "submitted") {
    if (failure.kind === "fail") {
      return { submissions: [submission(null)], transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    }
    return { submissions: [submission(Math.max(failure.until, now + 60_000))] }
  }
  const submissions = [submission(null)]
  switch (failure.kind) {
    case "fail":
      return { submissions, transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    case "attempt":
      return { submissions, transitions: [liveTransitions.attemptFailed(invoice, failure.reason, now, giveUp)] }
    default:
      return { submissions, transitions: [liveTransitions.postponed(invoice, failure.reason, failure.until, now)] }
  }
}
