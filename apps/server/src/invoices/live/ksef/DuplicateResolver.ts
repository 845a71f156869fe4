/**
 * Finds out whether the original of a duplicate (440) is an earlier submission of the same invoice.
 *
 * The session that KSeF names is a hint only: after batches it named the wrong one.
 */
import { Clock, Effect } from "effect"
import { Sha256 } from "@govoice/ksef/crypto"
import { withDetails } from "./CallFailure.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { Changes, SubmissionRow } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import { type InvoiceStatus, numberOf } from "./StatusRules.ts"
import * as StatusRules from "./StatusRules.ts"

/** After this, a duplicate whose original cannot be read fails. */
const giveUpMs = 24 * 3_600_000

// What cannot be read is not known; errors of the database and of the lease are not for here.
const orUnknown = <A>(effect: Effect.Effect<A, LoginError>) =>
  Effect.catchTags(effect, {
    CallFailed: () => Effect.undefined,
    CredentialRefused: () => Effect.undefined,
    LoginPostponed: () => Effect.undefined
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

  for (const submission of earlier) {
    const { session_organization_id: organization, session_reference: reference } = submission
    if (reference === null) continue
    const list = yield* orUnknown(SessionInvoiceList.read(context, organization, reference))
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
    const download = yield* orUnknown(
      authorized(context, row.session_organization_id, "invoice", (accessToken) =>
        context.system.client.invoice({ accessToken, ksefNumber: original })
      )
    )
    if (download !== undefined) {
      return Sha256.base64(download.bytes) === Buffer.from(row.sha256).toString("base64")
        ? acceptedElsewhere(row, original, answer, now)
        : StatusRules.rejected(row, 440, duplicate, now)
    }
  }

  if (now - row.handed_over_at.getTime() < giveUpMs) return StatusRules.parked(row, now, 440)
  const message = `KSeF calls the invoice a duplicate, and the original cannot be read.${named} Compare it with this invoice.`
  return StatusRules.failed(row, 440, { code: "duplicate_unresolved", message }, now)
})
