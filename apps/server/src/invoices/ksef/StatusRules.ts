/**
 * Decides by the status that KSeF returns for an invoice: (stored state, answer) to the changes to write. Pure.
 */
import { KsefNumber } from "@govoice/ksef/format"
import { InvoiceStatuses, type SessionAnswers, SessionStatuses } from "@govoice/ksef/protocol"
import * as LaneRules from "./LaneRules.ts"
import { withDetails } from "./CallFailure.ts"
import type { Changes, SubmissionChange, SubmissionRow } from "./laneRows.ts"
import type { ClaimedInvoice } from "../ClaimedInvoice.ts"
import { transitioned } from "../TransitionSteps.ts"
import * as liveTransitions from "./liveTransitions.ts"

export type InvoiceStatus = SessionAnswers.InvoiceStatus

/** The wait before the next lookup of a verdict that no rule covers, or that cannot be read. */
export const postponeMs = 900_000

interface Reason {
  readonly code: string
  readonly message: string
}

const base = (row: SubmissionRow) => ({ id: row.submission_id })

const again = (row: SubmissionRow, now: number, waitMs: number): SubmissionChange => ({
  ...base(row),
  checkCount: row.check_count + 1,
  dueAt: new Date(now + waitMs)
})

/** Why a document waits. The reason is written where it is another one. */
export const because = (
  row: Pick<ClaimedInvoice, "id" | "failure">,
  failure: Reason | null
): Pick<Changes, "reasons"> => (row.failure?.code === failure?.code ? {} : { reasons: [{ id: row.id, failure }] })

const polledAgain = (row: SubmissionRow, now: number): SubmissionChange =>
  again(row, now, LaneRules.pollWait(row.check_count + 1, now - row.handed_over_at.getTime()))

/** The verdict is not there yet. `code` is the status, where it was read. */
export const pending = (row: SubmissionRow, now: number, code?: number): Changes => {
  const change = polledAgain(row, now)
  return { submissions: [code === undefined ? change : { ...change, code }], ...because(row, null) }
}

/** From when on KSeF should list a document that it has received. */
const unlistedMs = 30_000

const shouldBeListed = ({ handed_over_at: since }: SubmissionRow, now: number) => now - since.getTime() >= unlistedMs

/** Whether KSeF should list a document by now, and its invoice does not show yet that it does not. */
export const isNewlyUnlisted = (row: SubmissionRow, now: number): boolean =>
  row.submission_state === "sent" && row.failure === null && shouldBeListed(row, now)

/** KSeF has received the document, and does not list it in its session. */
export const unlisted = (row: SubmissionRow, now: number): Changes => {
  if (!shouldBeListed(row, now)) return pending(row, now)
  const message = "KSeF has received the invoice, and does not list it yet."
  return { submissions: [polledAgain(row, now)], ...because(row, { code: "gateway_unavailable", message }) }
}

const unreadableReason: Reason = {
  code: "gateway_session_unreadable",
  message: "KSeF does not show this credential the session of the invoice."
}

const duplicateReason: Reason = {
  code: "duplicate_unresolved",
  message: "KSeF calls the invoice a duplicate, and the original could not be read yet."
}

/** Why an invoice waits whose send was not answered. */
export const answerLost: Reason = {
  code: "gateway_unavailable",
  message: "The answer to the submission was lost. Whether KSeF has the invoice is looked up."
}

/** The status is not decided by a rule, or cannot be read now. An operator can decide about a stored code. */
export const postponed = (row: SubmissionRow, now: number, code?: number): Changes => {
  const change = again(row, now, postponeMs)
  const message =
    code === 200
      ? "KSeF accepted an invoice, and its answer is not about this one."
      : `KSeF gave the status ${code}, which is not documented.`
  const unknown = { code: "unknown_verdict", message }
  const reason =
    code === undefined || code === unreadableSession ? unreadableReason : code === 440 ? duplicateReason : unknown
  return { submissions: [code === undefined ? change : { ...change, code }], ...because(row, reason) }
}

/** A session that cannot be read for so long is given up, and its documents are sent again: a copy would be a duplicate. */
export const unreadableMs = 3_600_000

/** Whether a document is given up with its session: not one that was sent in it a short time ago. */
export const isGivenUp = ({ handed_over_at, session_unreadable_since: since }: SubmissionRow, now: number): boolean =>
  since !== null && now - Math.max(since.getTime(), handed_over_at.getTime()) >= unreadableMs

/** The code of a submission that was given up with its session. KSeF has no such status. */
export const unreadableSession = 403

/**
 * The session was given up: the document is sent once more, because the status of a copy names the number of the original. It
 * waits where that was done before, because copies would go on without end, and an operator can decide about it.
 */
export const unreadable = (row: SubmissionRow, submissions: ReadonlyArray<SubmissionRow>, now: number): Changes => {
  if (submissions.some(({ code }) => code === unreadableSession)) return postponed(row, now, unreadableSession)
  const change = { ...base(row), code: unreadableSession } as const
  if (row.status === "submitted")
    return { submissions: [{ ...change, state: "refused", checkCount: 0, dueAt: new Date(now) }] }
  // Not an attempt that failed: KSeF may have the document.
  const reason = { code: "gateway_unavailable", message: "KSeF does not show the session of the invoice." }
  return {
    submissions: [{ ...change, state: "absent", dueAt: null }],
    transitions: row.status === "submitting" ? [liveTransitions.postponed(row, reason, now, now)] : []
  }
}

const noResends: ReadonlySet<number> = new Set([SessionStatuses.tooManyInvoices, unreadableSession])

/** How often a document was not judged: its submissions that ended with an error. A smaller batch is no resend. */
export const resendsOf = (submissions: ReadonlyArray<SubmissionRow>): number =>
  submissions.filter(
    ({ code, submission_state }) =>
      submission_state === "refused" && code !== null && code >= 400 && !noResends.has(code)
  ).length

/** Accepted: the receipt is due. */
export const accepted = (row: SubmissionRow, ksefNumber: string, now: number, storedAt?: number | null): Changes => {
  const change = { ...base(row), state: "decided", code: 200, dueAt: new Date(now) } as const
  const transition = liveTransitions.accepted(row, ksefNumber, now)
  return {
    submissions: [storedAt == null ? change : { ...change, storedAt: new Date(storedAt) }],
    transitions: [transition],
    accepted: { ...transitioned({ ...transition, invoice: row }), submission_state: "decided", code: 200 }
  }
}

// The submission is decided, and nothing more is due.
const ended = (row: SubmissionRow, code: number, transition: NonNullable<Changes["transitions"]>[number]): Changes => ({
  submissions: [{ ...base(row), state: "decided", code, dueAt: null }],
  transitions: [transition]
})

export const rejected = (row: SubmissionRow, code: number, reason: Reason, now: number): Changes =>
  ended(row, code, liveTransitions.rejected(row, reason, now))

export const failed = (row: SubmissionRow, code: number, reason: Reason, now: number): Changes =>
  ended(row, code, liveTransitions.failed(row, reason, now))

/** The national system did not judge the document: it is sent again, or failed after the last time. */
export const resent = (
  row: SubmissionRow,
  status: { readonly code: number; readonly details?: ReadonlyArray<string> | null | undefined },
  resends: number,
  now: number
): Changes => {
  const wait = status.code === SessionStatuses.tooManyInvoices ? 0 : LaneRules.resendWait(resends)
  if (wait === undefined) {
    const message = withDetails("KSeF could not process the invoice, also when it was sent again.", status.details)
    return failed(row, status.code, { code: "national_system_error", message }, now)
  }
  const message = withDetails("KSeF could not process the invoice. It is sent again.", status.details)
  return {
    submissions: [{ ...base(row), state: "refused", code: status.code, checkCount: 0, dueAt: new Date(now + wait) }],
    ...because(row, { code: "national_system_error", message })
  }
}

/**
 * The number that the national system gave this document, where the answer is about it and the number one of its seller. Of FA_RR,
 * the buyer issues it, and which of both is in the number is not documented.
 */
export const numberOf = (row: SubmissionRow, status: InvoiceStatus): string | undefined => {
  const number = status.ksefNumber ?? ""
  const parts = KsefNumber.parse(number)
  if (parts === undefined || status.invoiceHash !== Buffer.from(row.sha256).toString("base64")) return undefined
  const isOfSeller = row.seller_nip === null || row.form_code === "FA_RR (1)" || parts.nip === row.seller_nip
  return isOfSeller ? number : undefined
}

const sentences: Readonly<Record<string, string>> = {
  seller_not_permitted: "The taxpayer is not permitted to issue this invoice.",
  attachment_not_allowed: "KSeF does not take this invoice with its attachment.",
  file_refused: "KSeF refused the file of the invoice.",
  invalid_document: "The invoice breaks the schema or another rule of KSeF."
}

/**
 * Decides by the status. A decision that needs a lookup first names it: `count-resends` needs how often the document was not
 * judged, `resolve-duplicate` needs to know what the original is.
 */
export const decide = (
  row: SubmissionRow,
  answer: InvoiceStatus,
  now: number
): { readonly changes: Changes; readonly isUnknown?: boolean } | "count-resends" | "resolve-duplicate" => {
  const { code, details } = answer.status
  const { action, shown } = InvoiceStatuses.invoiceStatus(code, answer.ksefNumber)
  switch (action) {
    case "poll":
      return { changes: pending(row, now, code) }
    case "accept": {
      const number = numberOf(row, answer)
      return number === undefined
        ? { changes: postponed(row, now, code), isUnknown: true }
        : { changes: accepted(row, number, now, answer.permanentStorageDate) }
    }
    case "send-in-batch":
      if (row.session_kind === "online") {
        const change = { ...base(row), state: "refused", code, checkCount: 0, dueAt: new Date(now) } as const
        return { changes: { submissions: [change] } }
      }
      return reject(row, code, shown[0], details, now)
    case "reject":
      return reject(row, code, shown[0], details, now)
    case "resend":
      return "count-resends"
    case "resolve-duplicate":
      return "resolve-duplicate"
    case "park":
      return { changes: postponed(row, now, code), isUnknown: true }
  }
}

const reject = (
  row: SubmissionRow,
  code: number,
  shown: InvoiceStatuses.InvoiceCode | undefined,
  details: ReadonlyArray<string> | null | undefined,
  now: number
) => {
  const reason = shown ?? "invalid_document"
  return { changes: rejected(row, code, { code: reason, message: withDetails(sentences[reason]!, details) }, now) }
}

/**
 * The next state of a document whose send has no known outcome, by whether the session has it.
 *
 * Two lookups have to find nothing after it can no longer arrive, before it counts as absent and is sent again. `submissions` are
 * those of a submitted invoice, the newest first.
 */
export const afterLookup = (
  row: SubmissionRow,
  found: InvoiceStatus | undefined,
  now: number,
  { intervalMs, mayArriveMs }: LaneRules.LookupTiming,
  giveUp: liveTransitions.GiveUp,
  submissions: ReadonlyArray<SubmissionRow>
): Changes => {
  if (found !== undefined) {
    const { referenceNumber: reference } = found
    const known = row.status === "submitted" ? because(row, null) : {}
    return {
      ...known,
      submissions: [
        { ...base(row), state: "sent", reference, sentAt: new Date(now), checkCount: 0, dueAt: new Date(now) }
      ],
      transitions: liveTransitions.submitted(row, now)
    }
  }
  const mayArriveUntil = row.handed_over_at.getTime() + mayArriveMs
  if (now < mayArriveUntil) {
    const nextLookup = Math.min(mayArriveUntil, now + intervalMs)
    return { submissions: [{ ...base(row), checkCount: 0, dueAt: new Date(nextLookup) }], ...because(row, answerLost) }
  }
  if (row.check_count === 0) {
    const change = { ...base(row), checkCount: 1, dueAt: new Date(now + intervalMs) }
    return { submissions: [change], ...because(row, answerLost) }
  }
  return absent(row, submissions, now, giveUp)
}

/**
 * The national system does not have the document: the attempt failed. `submissions` are those of a submitted invoice, the newest
 * first.
 */
export const absent = (
  row: SubmissionRow,
  submissions: ReadonlyArray<SubmissionRow>,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const failure = {
    code: "gateway_unavailable",
    message: "The answer to the submission was lost, and KSeF does not have the invoice."
  }
  if (row.status === "submitted") return triedAgain(row, submissions, failure, now, now, giveUp)
  return {
    submissions: [{ ...base(row), state: "absent", dueAt: null }],
    transitions: row.status === "submitting" ? [liveTransitions.attemptFailed(row, failure, now, giveUp)] : []
  }
}

/** Whether KSeF may have one of these submissions: its session could not be read. */
export const mayHaveIt = (submissions: ReadonlyArray<Pick<SubmissionRow, "code">>): boolean =>
  submissions.some(({ code }) => code === unreadableSession)

/** The last submissions of an invoice, none of which KSeF has received: how many, and when the first of them was begun. */
export interface NotReceived {
  readonly count: number
  /** `undefined` where KSeF may have an earlier one. */
  readonly since: number | undefined
}

/** Returns those since KSeF last did not judge the invoice. `submissions` are all of it, the newest first. */
export const notReceived = (
  submissions: ReadonlyArray<Pick<SubmissionRow, "code" | "handed_over_at">>
): NotReceived => {
  const judged = submissions.findIndex(({ code }) => code !== null)
  const last = judged === -1 ? submissions : submissions.slice(0, judged)
  return { count: last.length, since: mayHaveIt(submissions) ? undefined : last.at(-1)?.handed_over_at.getTime() }
}

/**
 * A submitted invoice, which KSeF did not judge, could not be sent again: it is tried at a time, until `giveUpMs`. It
 * is tried for ever where KSeF may have it.
 */
export const notSentAgain = (
  row: ClaimedInvoice & Pick<SubmissionRow, "submission_id">,
  reason: Reason,
  options: { readonly giveUpMs: number; readonly retryAt: number; readonly since: number | undefined },
  now: number
): Changes => {
  const { giveUpMs, retryAt, since } = options
  const refused = { id: row.submission_id, state: "refused" } as const
  if (since === undefined || now - since < giveUpMs) {
    return { submissions: [{ ...refused, dueAt: new Date(retryAt) }], ...because(row, reason) }
  }
  const message = `KSeF did not process the invoice, and it could not be sent again. ${reason.message}`
  return {
    submissions: [{ ...refused, dueAt: null }],
    transitions: [liveTransitions.failed(row, { code: "national_system_error", message }, now)]
  }
}

/**
 * A submitted invoice that was not sent again: the wait grows with each try since KSeF last did not judge it, and ends at
 * `soonest` at the earliest. `submissions` are all of the invoice, the newest first.
 */
export const triedAgain = (
  row: ClaimedInvoice & Pick<SubmissionRow, "submission_id">,
  submissions: ReadonlyArray<SubmissionRow>,
  reason: Reason,
  soonest: number,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const { count, since } = notReceived(submissions)
  const firstAttemptAgeMs = since === undefined ? 0 : now - since
  const wait = LaneRules.retryWait({ attempt: count, firstAttemptAgeMs, ...giveUp }) ?? 0
  return notSentAgain(row, reason, { giveUpMs: giveUp.giveUpMs, retryAt: Math.max(soonest, now + wait), since }, now)
}

/**
 * The batch of the document was not sent. It waits for the next batch where it has an attachment, and may go alone at
 * once otherwise. It fails after the time to give up. `submissions` are those of a submitted invoice, the newest first.
 */
export const notHandedOver = (
  row: SubmissionRow,
  submissions: ReadonlyArray<SubmissionRow>,
  reason: Reason,
  { giveUpMs, nextBatchAt }: { readonly giveUpMs: number; readonly nextBatchAt: number },
  now: number
): Changes => {
  const retryAt = row.has_attachment ? nextBatchAt : now
  if (row.status === "submitted") {
    return notSentAgain(row, reason, { giveUpMs, retryAt, since: notReceived(submissions).since }, now)
  }
  return {
    submissions: [{ ...base(row), state: "absent", dueAt: null }],
    transitions:
      row.status === "submitting" ? [liveTransitions.batchFailed(row, reason, { giveUpMs, retryAt }, now)] : []
  }
}

/** Joins changes. */
export const merge = (all: ReadonlyArray<Changes>): Changes => ({
  reasons: all.flatMap(({ reasons = [] }) => reasons),
  sessions: all.flatMap(({ sessions = [] }) => sessions),
  submissions: all.flatMap(({ submissions = [] }) => submissions),
  transitions: all.flatMap(({ transitions: pendingTransitions = [] }) => pendingTransitions)
})
