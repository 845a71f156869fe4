/**
 * Sends up to 2,000 documents in one archive as a batch session, and polls the session for their statuses.
 *
 * States: `opening` before the call, `open` once it was answered, `uploaded` with the last part, `closed` when processing
 * has begun, `done`. A session that was never closed is never processed: the intent to send its members is stored once it is
 * open, so that a batch that cannot be opened changes no invoice.
 */
import type { Ids } from "@govoice/core"
import { SealedDocument, SessionKey } from "@govoice/ksef/crypto"
import { FormCode, SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric, Result } from "effect"
import type { SqlError } from "effect/sql"
import type { LaneLost } from "../LaneQueue.ts"
import * as LaneRules from "../LaneRules.ts"
import * as ArchiveUpload from "./ArchiveUpload.ts"
import * as BatchDocuments from "./BatchDocuments.ts"
import { type Failure, isUnreadableSession } from "./CallFailure.ts"
import type { FormName } from "./documentForm.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import { authorized, type LaneContext, stepFailure, timeToGiveUpOf } from "./LaneContext.ts"
import type { Changes, SessionRow, SubmissionRow, WaitingInvoice } from "./laneRows.ts"
import { membersAtOnce } from "./LaneStore.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import * as liveTransitions from "./liveTransitions.ts"
import { isDuplicate, writeAll, writeVerdicts } from "./StatusPoller.ts"
import * as StatusRules from "./StatusRules.ts"

/** Sends the oldest of these invoices as a batch, and returns when the lane may go on. Fails where it cannot be opened. */
export type SendBatch = (
  organizationId: Ids.OrganizationId,
  form: FormName,
  invoices: ReadonlyArray<WaitingInvoice>
) => Effect.Effect<number, LoginError>

const archiveRefused = "The archive of a batch could not be uploaded"
const closeRefused = "KSeF refused to close a batch"

/** Why the members of a batch are sent again that was not closed for another reason. */
export const notClosed = "The batch of the invoice was interrupted before KSeF could process it."
const canceled = "KSeF canceled the batch of the invoice before it was processed."
const incomplete = "Another invoice of the batch may not be sent any more, so that the batch was given up."

type RefusedClose = Extract<Failure, { readonly _tag: "code" }>

const refusals: ReadonlySet<string> = new Set(["upload-again", "new-batch", "defect"])

/** Why KSeF will not close a batch, also when it is asked again. */
const refusedClose = (closing: Result.Result<void, LoginError>): RefusedClose | undefined => {
  if (Result.isSuccess(closing) || closing.failure._tag !== "CallFailed") return undefined
  const { failure } = closing.failure
  return failure._tag === "code" && refusals.has(failure.action) ? failure : undefined
}

/** Makes what sends batches and polls for their verdicts. */
export const make = (context: LaneContext) => {
  const { lane, store, system } = context
  const { batches: batchSlots, uploads } = context.process
  const upload = ArchiveUpload.make(context)
  // A new holder does not know.
  let mayHaveBatches = true

  /** Handles the members of a batch, some of them at a time, and returns how many there are. */
  const forMembers = Effect.fnUntraced(function* <E>(
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
    sessionId: string,
    changesOf: (row: SubmissionRow, now: number) => Effect.Effect<Changes, E>
  ) =>
    forMembers(
      sessionId,
      Effect.fnUntraced(function* (rows: ReadonlyArray<SubmissionRow>) {
        const now = yield* Clock.currentTimeMillis
        yield* writeAll(context, yield* Effect.forEach(rows, (row) => changesOf(row, now)))
      })
    )

  const markSent = (sessionId: string, reference: string) =>
    writeMembers(sessionId, (row, now) =>
      Effect.succeed<Changes>(
        row.submission_state === "sending"
          ? {
              submissions: [{ id: row.submission_id, state: "sent", sentAt: new Date(now), dueAt: null }],
              transitions: liveTransitions.submitted(row, `${reference}/${row.id}`, now)
            }
          : {}
      )
    )

  /**
   * The national system will never process the batch: its members are sent again, those with attachments when the next batch may
   * be opened.
   */
  const abandon = Effect.fnUntraced(function* (
    sessionId: string,
    message: string,
    { code, nextBatchAt = 0 }: { readonly code?: number | undefined; readonly nextBatchAt?: number } = {}
  ) {
    const reason = { code: "gateway_unavailable", message }
    yield* writeMembers(sessionId, (row, now) => {
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
  const abandonFailed = Effect.fnUntraced(function* (sessionId: string, what: string, failure: Failure) {
    const now = yield* Clock.currentTimeMillis
    const nextBatchAt = uploads.failed(lane.nip, now)
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
    yield* abandon(sessionId, `${what}. ${failure.message}`, { code, nextBatchAt })
  })

  const close = Effect.fnUntraced(function* (sessionId: string, organizationId: Ids.OrganizationId, reference: string) {
    yield* authorized(context, organizationId, "closeBatch", (accessToken) =>
      system.client.closeBatch({ accessToken, session: reference })
    ).pipe(
      Effect.catchTag("CallFailed", (error) =>
        error.failure._tag === "code" && error.failure.action === "already-closed" ? Effect.void : Effect.fail(error)
      )
    )
    // Before the session is due: the verdict step runs beside this one, and decides about what is marked.
    yield* markSent(sessionId, reference)
    const now = yield* Clock.currentTimeMillis
    yield* store.write(lane, {
      sessions: [
        { id: sessionId, state: "closed", checkCount: 0, dueAt: new Date(now + LaneRules.batchPollWait(0, 0)) }
      ]
    })
    context.wake("verdicts")
  })

  const build = Effect.fnUntraced(function* (ids: ReadonlyArray<Ids.InvoiceId>) {
    const key = SessionKey.generate()
    const archive = yield* Effect.catchTag(BatchDocuments.archiveOf(store, ids), "TarError", Effect.die)
    return { key, sealed: SealedDocument.seal(key, archive) }
  })

  const open = Effect.fnUntraced(function* (
    organizationId: Ids.OrganizationId,
    form: FormName,
    sessionKey: SessionKey,
    sealed: SealedDocument.SealedDocument
  ) {
    const publicKey = yield* context.keys.get("SymmetricKeyEncryption", context.call)
    return yield* authorized(context, organizationId, "openBatch", (accessToken) =>
      system.client.openBatch({
        accessToken,
        form: FormCode.formCodes[form],
        sessionKey,
        publicKey,
        archive: sealed,
        parts: [sealed]
      })
    )
  })

  const send: SendBatch = (organizationId, form, waiting) =>
    batchSlots.withSlot(
      Effect.gen(function* () {
        const ids = BatchDocuments.fitting(waiting).map(({ id }) => id)
        mayHaveBatches = true
        const sessionId = yield* store.beginSession(lane, organizationId, "batch", form)
        const { key, sealed } = yield* build(ids)
        const { partUploadRequests, referenceNumber: reference } = yield* open(organizationId, form, key, sealed).pipe(
          Effect.ensuring(Effect.sync(() => key.wipe())),
          Effect.tapError((error) => (error._tag === "LaneLost" ? Effect.void : abandon(sessionId, notClosed)))
        )
        yield* store.write(lane, { sessions: [{ id: sessionId, state: "open", reference, dueAt: null }] })
        const begun = yield* store.beginBatch(lane, sessionId, ids)
        if (begun.length < ids.length) {
          // The archive has a document that must not be sent: its organization has deleted the credential.
          context.organizationsReadAt = 0
          yield* abandon(sessionId, incomplete)
          return 0
        }
        const [part] = partUploadRequests
        const notUploaded = yield* upload(part, sealed.encrypted)
        if (notUploaded !== undefined) {
          yield* abandonFailed(sessionId, archiveRefused, notUploaded)
          return 0
        }
        yield* store.write(lane, {
          sessions: [{ id: sessionId, state: "uploaded", documentCount: ids.length, dueAt: null }]
        })
        yield* Metric.update(KsefMetrics.batchDocuments, ids.length)
        const closeOnce = Effect.result(close(sessionId, organizationId, reference))
        let closing = yield* closeOnce
        if (refusedClose(closing)?.action === "upload-again") {
          const notUploadedAgain = yield* upload(part, sealed.encrypted)
          if (notUploadedAgain !== undefined) {
            yield* abandonFailed(sessionId, archiveRefused, notUploadedAgain)
            return 0
          }
          closing = yield* closeOnce
        }
        const refused = refusedClose(closing)
        if (refused !== undefined) {
          yield* abandonFailed(sessionId, closeRefused, refused)
          return 0
        }
        uploads.succeeded(lane.nip)
        if (closing._tag === "Success") return 0
        if (closing.failure._tag === "LaneLost" || closing.failure._tag === "SqlError") {
          return yield* Effect.fail(closing.failure)
        }
        // The verdict step reads the session, and closes it again where it is still open.
        const now = yield* Clock.currentTimeMillis
        yield* store.write(lane, { sessions: [{ id: sessionId, dueAt: new Date(now + 1000) }] })
        context.wake("verdicts")
        return 0
      })
    )

  const readMembers = Effect.fnUntraced(function* (
    session: SessionRow,
    reference: string,
    ifMissing: (row: SubmissionRow, now: number) => Effect.Effect<Changes, SqlError.SqlError>
  ) {
    const list = yield* SessionInvoiceList.read(context, session.organization_id, reference)
    const duplicates: Array<readonly [SubmissionRow, StatusRules.InvoiceStatus]> = []
    yield* forMembers(
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

  const finish = (session: Pick<SessionRow, "id">, code: number) =>
    store.write(lane, { sessions: [{ id: session.id, state: "done", code, dueAt: null }] })

  const check = Effect.fnUntraced(function* (session: SessionRow) {
    const { id, organization_id: organizationId } = session
    const reference = session.reference!
    const { status } = yield* authorized(context, organizationId, "sessionStatus", (accessToken) =>
      system.client.sessionStatus({ accessToken, session: reference })
    )
    const now = yield* Clock.currentTimeMillis
    const { action } = SessionStatuses.sessionStatus("batch", status.code)
    if (action === "poll" || action === "read-invoices") context.process.breaker.readableKey()
    if (action === "use") {
      // Not closed, as far as the national system knows.
      if (session.state === "open") return yield* abandon(id, notClosed, { code: status.code })
      const closing = yield* Effect.result(close(id, organizationId, reference))
      const refused = refusedClose(closing)
      // This holder does not have the archive.
      if (refused !== undefined) return yield* abandonFailed(id, closeRefused, refused)
      return yield* Effect.fromResult(closing)
    }
    // Nothing of it was processed, whether or not an earlier holder closed it.
    if (action === "send-again" && session.state !== "closed") {
      return yield* abandon(id, canceled, { code: status.code })
    }
    if (session.state !== "closed") {
      yield* store.write(lane, { sessions: [{ id, state: "closed", dueAt: new Date(now) }] })
      yield* markSent(id, reference)
    }
    switch (action) {
      case "poll":
      case "park": {
        if (action === "park") {
          yield* Effect.annotateLogs(Effect.logError("KSeF returned a session status that no rule covers"), {
            code: status.code
          })
        }
        const wait = LaneRules.batchPollWait(session.check_count + 1, now - session.created_at.getTime())
        return yield* store.write(lane, {
          sessions: [{ id, checkCount: session.check_count + 1, dueAt: new Date(now + wait) }]
        })
      }
      case "read-invoices":
        yield* readMembers(session, reference, (row) =>
          Effect.succeed({ submissions: [{ id: row.submission_id, dueAt: new Date(now + 30_000) }] })
        )
        return yield* finish(session, status.code)
      case "look-then-send-again":
        yield* readMembers(session, reference, notProcessed(status.code))
        return yield* finish(session, status.code)
      case "refresh-keys":
        context.keys.invalidate()
        context.process.breaker.unreadableKey(now)
        return yield* abandonSent(session, status.code)
      case "send-alone":
        yield* Effect.annotateLogs(Effect.logError("KSeF could not read a batch; its documents are sent one by one"), {
          code: status.code
        })
        return yield* abandonSent(session, status.code)
      default:
        return yield* abandonSent(session, status.code)
    }
  })

  /** The national system did not take a member. It is submitted already, and sent again after a while. */
  const notProcessed = (code: number) => (row: SubmissionRow, now: number) =>
    Effect.map(store.submissionsOf(row.id), (all) => StatusRules.resent(row, { code }, StatusRules.resendsOf(all), now))

  const abandonSent = Effect.fnUntraced(function* (session: Pick<SessionRow, "id">, code: number) {
    const documents = yield* writeMembers(session.id, notProcessed(code))
    yield* Effect.annotateLogs(Effect.logWarning("KSeF did not process a batch"), { code, documents })
    yield* finish(session, code)
  })

  // It may have been processed: the statuses of the copies tell.
  const abandonUnreadable = Effect.fnUntraced(function* (session: SessionRow) {
    const documents = yield* writeMembers(session.id, (row, now) =>
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

  const checkOrPostpone = (session: SessionRow): Effect.Effect<void, LaneLost | SqlError.SqlError> =>
    check(session).pipe(
      Effect.tap(session.unreadable_since === null ? Effect.void : store.markUnreadable(lane, session.id, null)),
      Effect.catch((error: LoginError) =>
        Effect.gen(function* () {
          if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
          const now = yield* Clock.currentTimeMillis
          const isUnreadable = error._tag === "CallFailed" && isUnreadableSession(error.failure)
          const since = session.unreadable_since?.getTime()
          if (isUnreadable && since !== undefined && now - since >= StatusRules.unreadableMs) {
            return yield* abandonUnreadable(session)
          }
          if (isUnreadable && since === undefined) yield* store.markUnreadable(lane, session.id, new Date(now))
          const { until } = stepFailure(context, error, now)
          // Not as often as a batch is polled: one session alone does not open the breaker.
          const pollWait = LaneRules.pollWait(session.check_count + 1, now - session.created_at.getTime())
          const wait = isUnreadable ? Math.min(pollWait, StatusRules.postponeMs) : pollWait
          yield* store.write(lane, {
            sessions: [
              { id: session.id, checkCount: session.check_count + 1, dueAt: new Date(Math.max(until, now + wait)) }
            ]
          })
        })
      )
    )

  /** Polls the batches that are due, and returns when the next one is. */
  const poll = Effect.gen(function* () {
    if (!mayHaveBatches) return Infinity
    mayHaveBatches = false
    const unfinished = (yield* store.unfinishedSessions(lane.nip)).filter(({ kind }) => kind === "batch")
    if (unfinished.length > 0) mayHaveBatches = true
    const now = yield* Clock.currentTimeMillis
    const batches = unfinished.filter(({ due_at }) => due_at !== null)
    const due = batches.filter(({ due_at }) => due_at!.getTime() <= now)
    for (const session of due) yield* checkOrPostpone(session)
    if (due.length > 0) return now
    return Math.min(Infinity, ...batches.map(({ due_at }) => due_at!.getTime()))
  })

  return { send, poll, abandon, markSent }
}
