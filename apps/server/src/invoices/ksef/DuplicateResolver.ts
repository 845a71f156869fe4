/**
 * Finds out whether the original of a duplicate (440) is an earlier submission of the same invoice.
 *
 * The session that KSeF names is a hint only: after batches it named the wrong one.
 */
import type { Invoice } from "@govoice/core"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { Sha256 } from "@govoice/ksef/crypto"
import { KsefNumber, PolishTime } from "@govoice/ksef/format"
import type { PendingTransition } from "../ClaimedInvoice.ts"
import { transitioned } from "../TransitionSteps.ts"
import { type Failure, failureOf, withDetails } from "./CallFailure.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { LaneLost } from "./LaneQueue.ts"
import type { Changes, SendingInvoice, SubmissionChange, SubmissionRow } from "./laneRows.ts"
import * as liveTransitions from "./liveTransitions.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import { type InvoiceStatus, numberOf } from "./StatusRules.ts"
import * as StatusRules from "./StatusRules.ts"

/** After this, a duplicate whose original cannot be read fails. */
const unreadableMs = 24 * 3_600_000

/** A lookup that was not answered: a window of limits is full, or KSeF is not available. It is made again. */
const unanswered = Symbol("unanswered")

const isTransient: ReadonlySet<Failure["_tag"]> = new Set([
  "blocked",
  "postponed",
  "rate-limited",
  "unavailable",
  "unauthorized"
])

// A lookup that is refused has no result, unless another call failed before it. Errors of the database and of the lease are for
// the caller.
const lookUp = <A>(effect: Effect.Effect<A, LoginError>) =>
  Effect.catchTags(effect, {
    CallFailed: (error) => {
      const failure = failureOf(error, "sessionInvoices", "invoice")
      return Effect.succeed(failure === undefined || isTransient.has(failure._tag) ? unanswered : undefined)
    },
    CredentialRefused: () => Effect.undefined,
    LoginPostponed: () => Effect.succeed(unanswered)
  })

const decided = (row: SubmissionRow): Changes => ({
  submissions: [{ id: row.submission_id, state: "decided", code: 440, dueAt: null }]
})

// The receipt is in the session of the accepted copy, which is named as a hint.
const acceptedElsewhere = (row: SubmissionRow, original: string, answer: InvoiceStatus, now: number): Changes => {
  const { transitions = [] } = StatusRules.accepted(row, original, now)
  const originalSession = answer.status.extensions?.["originalSessionReferenceNumber"] || undefined
  const change = { id: row.submission_id, state: "decided", code: 440, dueAt: new Date(now) } as const
  return { submissions: [originalSession === undefined ? change : { ...change, originalSession }], transitions }
}

interface Accepted {
  readonly submission: SubmissionRow
  readonly reference: string
  readonly number: string
}

const acceptedSubmission = ({ reference, submission }: Accepted, now: number): SubmissionChange => ({
  id: submission.submission_id,
  state: "decided",
  reference,
  code: 200,
  dueAt: new Date(now)
})

/**
 * Looks for the accepted one of the earlier submissions of an invoice, in their sessions. `isUnread` tells whether one of those that
 * could not be read still cannot.
 */
const findAccepted = Effect.fnUntraced(function* (
  context: LaneContext,
  row: SubmissionRow,
  earlier: ReadonlyArray<SubmissionRow>,
  original: string | undefined
) {
  let isUnanswered = false
  let isUnread = false
  for (const submission of earlier) {
    const { code, session_organization_id: organization, session_reference: reference } = submission
    const wasUnreadable = code === StatusRules.unreadableSession
    // A session that could not be read is not asked for again where the number leads to the original.
    if (reference === null || (wasUnreadable && original !== undefined)) continue
    const list = yield* lookUp(SessionInvoiceList.read(context, organization, reference))
    if (list === unanswered) {
      isUnanswered = true
      continue
    }
    isUnread ||= wasUnreadable && list === undefined
    const [[, found] = []] = list === undefined ? [] : yield* SessionInvoiceList.findAll(context, list, [submission])
    const number = found === undefined ? undefined : numberOf(row, found)
    if (found?.status.code !== 200 || number === undefined) continue
    if (original !== undefined && original !== number) continue
    const accepted: Accepted = { submission, reference: found.referenceNumber, number }
    return { accepted, isUnanswered, isUnread }
  }
  return { accepted: undefined, isUnanswered, isUnread }
})

/**
 * Whether an invoice that was never sent, as far as is known, may be the original itself: KSeF has accepted that since the invoice is here.
 * A fail-over to a replica that was behind, or a backup, has lost that it was sent then.
 */
const mayBeOriginal = ({ created_at }: SubmissionRow, original: string | undefined): boolean => {
  const parts = original === undefined ? undefined : KsefNumber.parse(original)
  return parts !== undefined && parts.day >= PolishTime.compactDay(created_at.getTime())
}

/** Returns the changes for a duplicate. */
export const resolve = Effect.fn("Duplicates.resolve")(function* (
  context: LaneContext,
  row: SubmissionRow,
  answer: InvoiceStatus
) {
  const now = yield* Clock.currentTimeMillis
  const original = answer.status.extensions?.["originalKsefNumber"] || undefined
  const named = original === undefined ? "" : ` Its KSeF number is ${original}.`
  const duplicate = {
    code: "duplicate_invoice",
    message: withDetails(`KSeF has accepted an invoice of this seller, kind and number before.${named}`, null)
  }
  const earlier = (yield* context.store.submissionsOf(row.id)).filter(
    ({ submission_id }) => submission_id !== row.submission_id
  )
  if (earlier.length === 0 && !mayBeOriginal(row, original)) return StatusRules.rejected(row, 440, duplicate, now)
  const holder = original === undefined ? undefined : yield* context.store.invoiceOfNumber(original)
  if (holder !== undefined && holder !== row.id) return StatusRules.rejected(row, 440, duplicate, now)
  // The original may be an invoice with the same document, whose verdict was not read yet.
  if (yield* context.store.hasOpenCopy(row)) return StatusRules.pending(row, now, 440)

  const { accepted, ...read } = yield* findAccepted(context, row, earlier, original)
  if (accepted !== undefined) {
    const { transitions = [] } = StatusRules.accepted(row, accepted.number, now)
    return StatusRules.merge([decided(row), { submissions: [acceptedSubmission(accepted, now)], transitions }])
  }

  let { isUnanswered } = read
  if (original !== undefined) {
    const download = yield* lookUp(
      authorized(context, row.session_organization_id, "invoice", (accessToken) =>
        context.system.client.invoice({ accessToken, ksefNumber: original })
      )
    )
    if (download === unanswered) isUnanswered = true
    else if (download !== undefined) {
      return Sha256.base64(download.bytes) === Buffer.from(row.sha256).toString("base64")
        ? acceptedElsewhere(row, original, answer, now)
        : StatusRules.rejected(row, 440, duplicate, now)
    }
  }

  // Windows of limits can take longer than a day for the duplicates of a large batch. Until each was looked up, none fails.
  if (isUnanswered || now - row.handed_over_at.getTime() < unreadableMs) return StatusRules.postponed(row, now, 440)
  const message = `KSeF calls the invoice a duplicate, and the original cannot be read.${named} Compare it with this invoice.`
  return StatusRules.failed(row, 440, { code: "duplicate_unresolved", message }, now)
})

const correctionUnresolved: Invoice.Reason = {
  code: "duplicate_unresolved",
  message: "KSeF has an accepted technical correction, and does not show the session in which this invoice may be it."
}

/**
 * Returns the changes for a technical correction that KSeF refuses and may have: one of its sessions could not be read, and the
 * accepted correction that KSeF has may be the one in it. That session is read again, for a day. The changes are written one after
 * the other. `all` are the submissions of the invoice, the newest first, and `refusal` is what KSeF says of that one.
 */
export const resolveCorrection = Effect.fn("Duplicates.resolveCorrection")(function* (
  context: LaneContext,
  invoice: SendingInvoice,
  all: ReadonlyArray<SubmissionRow>,
  refusal: Invoice.Reason
): Effect.fn.Return<ReadonlyArray<Changes>, LaneLost | SqlError.SqlError> {
  const now = yield* Clock.currentTimeMillis
  const [row, ...earlier] = all
  const refused = (dueAt: Date | null): SubmissionChange => ({ id: invoice.submission_id, state: "refused", dueAt })
  const { accepted, isUnanswered, isUnread } = yield* findAccepted(context, row!, earlier, undefined)
  if (accepted !== undefined) {
    const sent = liveTransitions.submitted(row!, now)
    const [submitted = row!] = sent.map((one) => transitioned({ ...one, invoice: row! }))
    return [
      { transitions: sent },
      {
        submissions: [refused(null), acceptedSubmission(accepted, now)],
        transitions: [liveTransitions.accepted(submitted, accepted.number, now)]
      }
    ]
  }
  const end = (transition: PendingTransition): ReadonlyArray<Changes> => [
    { submissions: [refused(null)], transitions: [transition] }
  ]
  if (!isUnanswered && !isUnread) return end(liveTransitions.rejected(invoice, refusal, now))
  const sentAt = Math.min(
    ...earlier
      .filter(({ code }) => code === StatusRules.unreadableSession)
      .map(({ handed_over_at: at }) => at.getTime())
  )
  if (!isUnanswered && now - sentAt >= unreadableMs) {
    const message = `${correctionUnresolved.message} Compare it with this invoice.`
    return end(liveTransitions.failed(invoice, { ...correctionUnresolved, message }, now))
  }
  const again = now + StatusRules.postponeMs
  return invoice.status === "submitted"
    ? [{ submissions: [refused(new Date(again))], reasons: [{ id: invoice.id, failure: correctionUnresolved }] }]
    : end(liveTransitions.postponed(invoice, correctionUnresolved, again, now))
})
