/** What becomes of an invoice that could not be sent: pure functions from the failure to the changes to write. */
import * as LaneRules from "./LaneRules.ts"
import type { StepFailure } from "./LaneContext.ts"
import type { Changes, SendingInvoice, SubmissionChange, SubmissionRow } from "./laneRows.ts"
import * as liveTransitions from "./liveTransitions.ts"
import * as StatusRules from "./StatusRules.ts"

/** The shortest wait before a submitted invoice is sent again that could not be. */
const shortestWaitMs = 60_000

/**
 * The outcome of an invoice that was not sent, as changes to write. `all` are the submissions of a submitted invoice, the newest
 * first.
 */
export const notSent = (
  invoice: SendingInvoice,
  all: ReadonlyArray<SubmissionRow>,
  failure: StepFailure,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const submission = (dueAt: number | null): SubmissionChange => ({
    id: invoice.submission_id,
    state: "refused",
    dueAt: dueAt === null ? null : new Date(dueAt)
  })
  if (failure.kind === "reject") {
    return { submissions: [submission(null)], transitions: [liveTransitions.rejected(invoice, failure.reason, now)] }
  }
  // Sent before: the invoice stays submitted, and the submission says when it is sent again.
  if (invoice.status === "submitted") {
    if (failure.kind === "fail" && !StatusRules.mayHaveIt(all)) {
      return { submissions: [submission(null)], transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    }
    const soonest = Math.max(failure.until, now + shortestWaitMs)
    const isAnotherSessionInVain =
      failure.kind === "again" && StatusRules.notReceived(all).count > LaneRules.maxOtherSessions
    if (failure.kind !== "attempt" && !isAnotherSessionInVain) {
      return { submissions: [submission(soonest)], reasons: [{ id: invoice.id, failure: failure.reason }] }
    }
    return StatusRules.triedAgain(invoice, all, failure.reason, soonest, now, giveUp)
  }
  const submissions = [submission(null)]
  switch (failure.kind) {
    case "fail":
      return { submissions, transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    case "attempt":
      return {
        submissions,
        transitions: [
          liveTransitions.attemptFailed(invoice, failure.reason, now, { ...giveUp, notBefore: failure.until })
        ]
      }
    default:
      return { submissions, transitions: [liveTransitions.postponed(invoice, failure.reason, failure.until, now)] }
  }
}

/**
 * The outcome of a submitted invoice that was due again, and whose session could not be opened, as changes to write. `all` are its
 * submissions, the newest first: the checks of that one count the failures since.
 */
export const notOpened = (
  all: ReadonlyArray<SubmissionRow>,
  failure: StepFailure,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const [newest] = all
  if (newest?.submission_state !== "refused" || newest.status !== "submitted" || failure.kind === "postponed") return {}
  const submission = { id: newest.submission_id, state: "refused" } as const
  if (failure.kind === "fail" && !StatusRules.mayHaveIt(all)) {
    return {
      submissions: [{ ...submission, dueAt: null }],
      transitions: [liveTransitions.failed(newest, failure.reason, now)]
    }
  }
  const checkCount = newest.check_count + 1
  const { count, since: firstSentAt } = StatusRules.notReceived(all)
  const failedSince = now - LaneRules.retriedMs(newest.check_count)
  const since = count > 0 || StatusRules.mayHaveIt(all) ? firstSentAt : failedSince
  const firstAttemptAgeMs = since === undefined ? 0 : now - since
  const wait = LaneRules.retryWait({ attempt: checkCount, firstAttemptAgeMs, ...giveUp }) ?? 0
  const retryAt = now + Math.max(shortestWaitMs, wait)
  const changes = StatusRules.notSentAgain(newest, failure.reason, { giveUpMs: giveUp.giveUpMs, retryAt, since }, now)
  return { ...changes, submissions: (changes.submissions ?? []).map((change) => ({ ...change, checkCount })) }
}
