/**
 * The batch sessions of a lane once they are opened: their members, how they are closed, polled and given up.
 *
 * States: `opening` before the call, `open` once it was answered, `uploaded` with the last part, `closed` when processing
 * has begun, `done`. A session that was never closed is never processed: the intent to send its members is stored once it is
 * open, so that a batch that cannot be opened changes no invoice.
 */
import type { Ids, Invoice } from "@govoice/core"
import { SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import * as InvoiceWarnings from "../InvoiceWarnings.ts"
import { type Failure, failureOf, isUnreadableSession } from "./CallFailure.ts"
import { closeOnline } from "./InteractiveSessions.ts"
import { authorized, type LaneContext, reportTrouble, stepFailure, timeToGiveUpOf } from "./LaneContext.ts"
import type { LaneLost } from "./LaneQueue.ts"
import type { Changes, SessionRow, SubmissionRow } from "./laneRows.ts"
import * as LaneRules from "./LaneRules.ts"
import { membersAtOnce } from "./LaneStore.ts"
import * as liveTransitions from "./liveTransitions.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import { isDuplicate, type Polled, writeAll, writeVerdicts } from "./StatusPoller.ts"
import * as StatusRules from "./StatusRules.ts"

export const closeRefused = "KSeF refused to close a batch"

/** Why the members of a batch are sent again that was not closed for another reason. */
export const notClosed = "The batch of the invoice was interrupted before KSeF could process it."
const canceled = "KSeF canceled the batch of the invoice before it was processed."

type RefusedClose = Extract<Failure, { readonly _tag: "code" }>

const refusals: ReadonlySet<string> = new Set(["upload-again", "new-batch", "defect"])

/** Why KSeF will not close a batch, also when it is asked again. */
export const refusedClose = (closing: Result.Result<void, LoginError>): RefusedClose | undefined => {
  if (Result.isSuccess(closing)) return undefined
  const failure = failureOf(closing.failure, "closeBatch")
  return failure?._tag === "code" && refusals.has(failure.action) ? failure : undefined
}

/** Handles the members of a batch, some of them at a time, and returns how many there are. */
const forMembers = Effect.fnUntraced(function* <E>(
  { store }: LaneContext,
  sessionId: string,
  handle: (rows: ReadonlyArray<SubmissionRow>) => Effect.Effect<void, E>
) {
  let count = 0
  let after: SubmissionRow | undefined
  while (true) {
    const rows = yield* store.members(sessionId, after)
    if (rows.length > 0) yield* handle(rows)
    count += rows.length
    if (rows.length < membersAtOnce) return count
    after = rows.at(-1)
  }
})

/** Writes what becomes of the members of a batch. */
const writeMembers = <E>(
  context: LaneContext,
  sessionId: string,
  changesOf: (row: SubmissionRow, now: number) => Effect.Effect<Changes, E>
) =>
  forMembers(
    context,
    sessionId,
    Effect.fnUntraced(function* (rows: ReadonlyArray<SubmissionRow>) {
      const now = yield* Clock.currentTimeMillis
      yield* writeAll(context, yield* Effect.forEach(rows, (row) => changesOf(row, now)))
    })
  )

/** Stores that KSeF has the members of a batch, and the warnings that it sent. */
export const markSent = (context: LaneContext, sessionId: string, warnings: ReadonlyArray<Invoice.Warning> = []) =>
  writeMembers(context, sessionId, (row, now) =>
    Effect.succeed<Changes>(
      row.submission_state === "sending"
        ? {
            submissions: [{ id: row.submission_id, state: "sent", sentAt: new Date(now), dueAt: null }],
            transitions: liveTransitions.submitted(row, now, warnings)
          }
        : {}
    )
  )

/**
 * The national system will never process the batch: its members are sent again, those with attachments when the next batch may
 * be opened.
 */
export const abandon = Effect.fnUntraced(function* (
  context: LaneContext,
  sessionId: string,
  message: string,
  { code, nextBatchAt = 0 }: { readonly code?: number | undefined; readonly nextBatchAt?: number } = {}
) {
  const { lane, store } = context
  const reason = { code: "gateway_unavailable", message }
  yield* writeMembers(context, sessionId, (row, now) => {
    const earlier = row.status === "submitted" ? store.submissionsOf(row.id) : Effect.succeed([])
    return Effect.map(Effect.all([earlier, timeToGiveUpOf(context, row)]), ([submissions, { giveUpMs }]) => {
      const options = { giveUpMs, nextBatchAt: Math.max(nextBatchAt, now) }
      return StatusRules.notHandedOver(row, submissions, reason, options, now)
    })
  })
  const change = { id: sessionId, state: "abandoned", dueAt: null } as const
  yield* store.write(lane, { sessions: [code === undefined ? change : { ...change, code }] })
})

/** The archive could not be uploaded, or KSeF will not close the batch. No batch is opened for a while. */
export const abandonFailed = Effect.fnUntraced(function* (
  context: LaneContext,
  sessionId: string,
  what: string,
  failure: Failure
) {
  const now = yield* Clock.currentTimeMillis
  const nextBatchAt = context.process.uploads.failed(context.lane.context, now)
  const code = failure._tag === "code" ? failure.code : undefined
  const isDefect = failure._tag === "code" && failure.action === "defect"
  yield* Effect.annotateLogs(
    (isDefect ? Effect.logError : Effect.logWarning)(`${what}; its documents are sent again`),
    {
      ...(code === undefined ? {} : { code }),
      failure: failure.message,
      nextBatchInMs: nextBatchAt - now
    }
  )
  yield* abandon(context, sessionId, `${what}. ${failure.message}`, { code, nextBatchAt })
})

/** Closes a batch, so that KSeF processes it. */
export const close = Effect.fnUntraced(function* (
  context: LaneContext,
  sessionId: string,
  organizationId: Ids.OrganizationId,
  reference: string
) {
  const { warnings } = yield* authorized(context, organizationId, "closeBatch", (accessToken) =>
    context.system.client.closeBatch({ accessToken, session: reference })
  ).pipe(
    Effect.catchTag("CallFailed", (error) => {
      const failure = failureOf(error, "closeBatch")
      return failure?._tag === "code" && failure.action === "already-closed"
        ? Effect.succeed({ warnings: [] })
        : Effect.fail(error)
    })
  )
  // Before the session is due: the verdict step runs beside this one, and decides about what is marked.
  yield* markSent(context, sessionId, InvoiceWarnings.ofSystem(warnings))
  const now = yield* Clock.currentTimeMillis
  yield* context.store.write(context.lane, {
    sessions: [{ id: sessionId, state: "closed", checkCount: 0, dueAt: new Date(now + LaneRules.batchPollWait(0, 0)) }]
  })
  context.wake("verdicts")
})

/** Reads the statuses of the members of a batch, and writes what follows. `ifMissing` is for those that KSeF does not list. */
const readMembers = Effect.fnUntraced(function* (
  context: LaneContext,
  session: SessionRow,
  ifMissing: (row: SubmissionRow, now: number) => Effect.Effect<Changes, SqlError.SqlError>
) {
  const list = yield* SessionInvoiceList.read(context, session.organization_id, session.reference!)
  const duplicates: Array<readonly [SubmissionRow, StatusRules.InvoiceStatus]> = []
  yield* forMembers(
    context,
    session.id,
    Effect.fnUntraced(function* (rows: ReadonlyArray<SubmissionRow>) {
      const answers = yield* SessionInvoiceList.findAll(context, list, rows)
      const now = yield* Clock.currentTimeMillis
      const missing: Array<Changes> = []
      const found: typeof duplicates = []
      for (const [row, status] of answers) {
        if (status === undefined) missing.push(yield* ifMissing(row, now))
        else (isDuplicate(status) ? duplicates : found).push([{ ...row, submission_state: "sent" }, status])
      }
      yield* writeAll(context, missing)
      yield* writeVerdicts(context, found)
    })
  )
  // The original can be another member, which is written by now.
  yield* writeVerdicts(context, duplicates)
})

const finish = ({ lane, store }: LaneContext, { id }: SessionRow, code: number) =>
  store.write(lane, { sessions: [{ id, state: "done", code, dueAt: null }] })

/** The national system did not take a member. It is submitted already, and sent again after a while. */
const notProcessed =
  ({ store }: LaneContext, code: number) =>
  (row: SubmissionRow, now: number) =>
    Effect.map(store.submissionsOf(row.id), (all) => StatusRules.resent(row, { code }, StatusRules.resendsOf(all), now))

const abandonSent = Effect.fnUntraced(function* (context: LaneContext, session: SessionRow, code: number) {
  const documents = yield* writeMembers(context, session.id, notProcessed(context, code))
  yield* Effect.annotateLogs(Effect.logWarning("KSeF did not process a batch"), { code, documents })
  yield* finish(context, session, code)
})

// It may have been processed: the statuses of the copies tell.
const abandonUnreadable = Effect.fnUntraced(function* (context: LaneContext, session: SessionRow) {
  const { lane, store } = context
  const documents = yield* writeMembers(context, session.id, (row, now) =>
    Effect.map(store.submissionsOf(row.id), (all) => StatusRules.unreadable(row, all, now))
  )
  yield* Effect.annotateLogs(
    Effect.logWarning(
      "The session of a batch cannot be read; documents that were not sent again before are sent once more"
    ),
    { documents, session: session.reference }
  )
  const code = StatusRules.unreadableSession
  yield* store.write(lane, { sessions: [{ id: session.id, state: "abandoned", code, dueAt: null }] })
})

/** KSeF takes the batch for open. */
const checkOpen = Effect.fnUntraced(function* (context: LaneContext, session: SessionRow, code: number) {
  if (session.state === "open") return yield* abandon(context, session.id, notClosed, { code })
  const closing = yield* Effect.result(close(context, session.id, session.organization_id, session.reference!))
  const refused = refusedClose(closing)
  // This holder does not have the archive.
  if (refused !== undefined) return yield* abandonFailed(context, session.id, closeRefused, refused)
  return yield* Effect.fromResult(closing)
})

const pollLater = (
  { lane, store }: LaneContext,
  { check_count: checkCount, created_at: createdAt, id }: SessionRow,
  now: number
) => {
  const dueAt = new Date(now + LaneRules.batchPollWait(checkCount + 1, now - createdAt.getTime()))
  return store.write(lane, { sessions: [{ id, checkCount: checkCount + 1, dueAt }] })
}

/** Reads the status of a batch, and writes what follows. */
const check = Effect.fnUntraced(function* (context: LaneContext, session: SessionRow) {
  const { breaker } = context.process
  const reference = session.reference!
  const { status } = yield* authorized(context, session.organization_id, "sessionStatus", (accessToken) =>
    context.system.client.sessionStatus({ accessToken, session: reference })
  )
  const { code } = status
  const now = yield* Clock.currentTimeMillis
  const { action } = SessionStatuses.sessionStatus("batch", code)
  if (action === "poll" || action === "read-invoices") breaker.readableKey()
  if (action === "use") return yield* checkOpen(context, session, code)
  // Nothing of it was processed, whether or not an earlier holder closed it.
  if (action === "send-again" && session.state !== "closed") {
    return yield* abandon(context, session.id, canceled, { code })
  }
  if (session.state !== "closed") {
    yield* context.store.write(context.lane, { sessions: [{ id: session.id, state: "closed", dueAt: new Date(now) }] })
    yield* markSent(context, session.id)
  }
  switch (action) {
    case "park":
      yield* Effect.annotateLogs(Effect.logError("KSeF returned a session status that no rule covers"), { code })
      return yield* pollLater(context, session, now)
    case "poll":
      return yield* pollLater(context, session, now)
    case "read-invoices":
      yield* readMembers(context, session, (row) =>
        Effect.succeed({ submissions: [{ id: row.submission_id, dueAt: new Date(now + 30_000) }] })
      )
      return yield* finish(context, session, code)
    case "look-then-send-again":
      yield* readMembers(context, session, notProcessed(context, code))
      return yield* finish(context, session, code)
    case "refresh-keys":
      context.keys.invalidate()
      breaker.unreadableKey(now)
      return yield* abandonSent(context, session, code)
    case "send-alone":
      yield* Effect.annotateLogs(Effect.logError("KSeF could not read a batch; its documents are sent one by one"), {
        code
      })
      return yield* abandonSent(context, session, code)
    default:
      return yield* abandonSent(context, session, code)
  }
})

/** The status of a batch could not be read. */
const postpone = Effect.fnUntraced(function* (
  context: LaneContext,
  session: SessionRow,
  error: LoginError
): Effect.fn.Return<void, LaneLost | SqlError.SqlError> {
  if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
  const { lane, store } = context
  const now = yield* Clock.currentTimeMillis
  const isUnreadable = isUnreadableSession(error)
  const since = session.unreadable_since?.getTime()
  if (isUnreadable && since !== undefined && now - since >= StatusRules.unreadableMs) {
    return yield* abandonUnreadable(context, session)
  }
  if (isUnreadable && since === undefined) yield* store.markUnreadable(lane, session.id, new Date(now))
  const failure = stepFailure(context, error, now)
  if (!isUnreadable) reportTrouble(context, "verdicts", error, failure, now)
  // A reason of its organization alone.
  if (error._tag === "CredentialRefused") {
    yield* writeMembers(context, session.id, (row) => Effect.succeed(StatusRules.because(row, failure.reason)))
  }
  // Not as often as a batch is polled: one session alone does not open the breaker.
  const pollWait = LaneRules.pollWait(session.check_count + 1, now - session.created_at.getTime())
  const wait = isUnreadable ? Math.min(pollWait, StatusRules.postponeMs) : pollWait
  const dueAt = new Date(Math.max(failure.until, now + wait))
  yield* store.write(lane, { sessions: [{ id: session.id, checkCount: session.check_count + 1, dueAt }] })
})

const checkOrPostpone = (context: LaneContext, session: SessionRow) =>
  check(context, session).pipe(
    Effect.tap(
      session.unreadable_since === null ? Effect.void : context.store.markUnreadable(context.lane, session.id, null)
    ),
    Effect.catch((error: LoginError) => postpone(context, session, error))
  )

const closeAgain = (context: LaneContext, session: SessionRow) =>
  closeOnline(context, {
    id: session.id,
    reference: session.reference!,
    organizationId: session.organization_id,
    validUntil: session.valid_until?.getTime() ?? session.created_at.getTime() + LaneRules.sessionLifetimeMs,
    closes: session.check_count
  })

/** Polls the batches that are due, and closes the interactive sessions that are. */
export const poll = Effect.fnUntraced(function* (
  context: LaneContext
): Effect.fn.Return<Polled, LaneLost | SqlError.SqlError> {
  if (!context.hasUnfinishedSessions) return { hasAsked: false, nextAt: Infinity }
  context.hasUnfinishedSessions = false
  const unfinished = yield* context.store.unfinishedSessions(context.lane.context)
  const waiting = unfinished.filter(({ due_at }) => due_at !== null)
  // A batch that is being sent will be due. An interactive session that is in use says when it is to be closed.
  if (waiting.length > 0 || unfinished.some(({ kind }) => kind === "batch")) context.hasUnfinishedSessions = true
  const now = yield* Clock.currentTimeMillis
  const due = waiting.filter(({ due_at }) => due_at!.getTime() <= now)
  for (const session of due) {
    yield* session.kind === "batch" ? checkOrPostpone(context, session) : closeAgain(context, session)
  }
  if (due.length > 0) return { hasAsked: true, nextAt: now }
  return { hasAsked: false, nextAt: Math.min(Infinity, ...waiting.map(({ due_at }) => due_at!.getTime())) }
})
