/**
 * Finds out whether the original of a duplicate (440) is an earlier submission of the same invoice.
 *
 * The session that KSeF names is a hint only: after batches it named the wrong one.
 */
import { Clock, Effect } from "effect"
import { Sha256 } from "@govoice/ksef/crypto"
import { type Failure, failureOf, withDetails } from "./CallFailure.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { Changes, SubmissionRow } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import { type InvoiceStatus, numberOf } from "./StatusRules.ts"
import * as StatusRules from "./StatusRules.ts"

/** After this, a duplicate whose original cannot be read fails. */
const giveUpMs = 24 * 3_600_000

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
  const originalSession = answer.status.extensions?.["originalSessionReferenceNumber"] ?? undefined
  const change = { id: row.submission_id, state: "decided", code: 440, dueAt: new Date(now) } as const
  return { submissions: [originalSession === undefined ? change : { ...change, originalSession }], transitions }
}

/** Returns the changes for a duplicate. */
export const resolve = Effect.fn("Duplicates.resolve")(function* (
  context: LaneContext,
  row: SubmissionRow,
  answer: InvoiceStatus
) {
  const now = yield* Clock.currentTimeMillis
  const original = answer.status.extensions?.["originalKsefNumber"] ?? undefined
  const named = original === undefined ? "" : ` Its KSeF number is ${original}.`
  const duplicate = {
    code: "duplicate_invoice",
    message: withDetails(`KSeF has accepted an invoice of this seller, kind and number before.${named}`, null)
  }
  const earlier = (yield* context.store.submissionsOf(row.id)).filter(
    ({ submission_id }) => submission_id !== row.submission_id
  )
  if (earlier.length === 0) return StatusRules.rejected(row, 440, duplicate, now)
  const holder = original === undefined ? undefined : yield* context.store.invoiceOfNumber(original)
  if (holder !== undefined && holder !== row.id) return StatusRules.rejected(row, 440, duplicate, now)
  // The original may be an invoice with the same document, whose verdict was not read yet.
  if (yield* context.store.hasOpenCopy(row)) return StatusRules.pending(row, now, 440)

  let isUnanswered = false
  for (const submission of earlier) {
    const { code, session_organization_id: organization, session_reference: reference } = submission
    // A session that could not be read is not asked for again where the number leads to the original.
    if (reference === null || (code === StatusRules.unreadableSession && original !== undefined)) continue
    const list = yield* lookUp(SessionInvoiceList.read(context, organization, reference))
    if (list === unanswered) {
      isUnanswered = true
      continue
    }
    const [[, found] = []] = list === undefined ? [] : yield* SessionInvoiceList.findAll(context, list, [submission])
    const number = found === undefined ? undefined : numberOf(row, found)
    if (found?.status.code !== 200 || number === undefined) continue
    if (original !== undefined && original !== number) continue
    const change = {
      id: submission.submission_id,
      state: "decided",
      reference: found.referenceNumber,
      code: 200,
      dueAt: new Date(now)
    } as const
    return StatusRules.merge([
      decided(row),
      { submissions: [change], transitions: StatusRules.accepted(row, number, now).transitions ?? [] }
    ])
  }

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
  if (isUnanswered || now - row.handed_over_at.getTime() < giveUpMs) return StatusRules.postponed(row, now, 440)
  const message = `KSeF calls the invoice a duplicate, and the original cannot be read.${named} Compare it with this invoice.`
  return StatusRules.failed(row, 440, { code: "duplicate_unresolved", message }, now)
})
