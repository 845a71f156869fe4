/**
 * Sends up to 2,000 documents in one archive as a batch session, and polls the session for their statuses.
 *
 * States: `opening` before the call, `open` once it was answered, `uploaded` with the last part, `closed` when processing
 * has begun, `done`. A session that was never closed is never processed.
 */
import type { Ids } from "@govoice/core"
import { SealedDocument, SessionKey, TarGz } from "@govoice/ksef/crypto"
import { FormCode, SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric, Random, Semaphore, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { LaneLost } from "../LaneQueue.ts"
import * as LaneRules from "../LaneRules.ts"
import { classify } from "./CallFailure.ts"
import type { FormName } from "./documentForm.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import { authorized, type LaneContext, park, type StepFailure, stepFailure } from "./LaneContext.ts"
import type { Changes, SendingInvoice, SessionRow, SubmissionRow, WaitingInvoice } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"
import { notSent } from "./failedSend.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import * as liveTransitions from "./liveTransitions.ts"
import { writeAll, writeVerdicts } from "./StatusPoller.ts"
import * as StatusRules from "./StatusRules.ts"

/** Sends the oldest of these invoices as a batch, and returns when the lane may go on. */
export type SendBatch = (
  organizationId: Ids.OrganizationId,
  form: FormName,
  invoices: ReadonlyArray<WaitingInvoice>
) => Effect.Effect<number, LoginError>

/** Archives are in memory: a process builds so many at once. */
export const building = Semaphore.makeUnsafe(2)

/** Uploads are repeated until the time that the national system gives for them. */
const uploadForMs = 15 * 60_000
const uploadRetryMs = 5000

/** The oldest that fit into one batch, or into a smaller one after a refusal. */
export const fitting = (invoices: ReadonlyArray<WaitingInvoice>): ReadonlyArray<WaitingInvoice> => {
  const chosen: Array<WaitingInvoice> = []
  let bytes = 0
  const limits = invoices.map(({ batch_limit: limit }) => limit ?? LaneRules.batch.maxDocuments)
  const maxDocuments = Math.min(LaneRules.batch.maxDocuments, ...limits)
  for (const invoice of invoices) {
    bytes += invoice.bytes
    if (chosen.length === maxDocuments || (chosen.length > 0 && bytes > LaneRules.batch.maxBytes)) break
    chosen.push(invoice)
  }
  return chosen
}

const archiveOf = (invoices: ReadonlyArray<SendingInvoice>) =>
  Effect.map(
    Stream.runCollect(
      TarGz.pack(
        invoices.map((invoice) => ({ name: SessionInvoiceList.fileName(invoice), bytes: Buffer.from(invoice.xml) }))
      )
    ),
    (chunks) => Buffer.concat([...chunks])
  )

/** Makes what sends batches and polls for their verdicts. */
export const make = (context: LaneContext) => {
  const { lane, store, system } = context
  // A new holder does not know.
  let mayHaveBatches = true

  const markSent = Effect.fnUntraced(function* (sessionId: string, reference: string) {
    const now = yield* Clock.currentTimeMillis
    const members = yield* store.members(sessionId)
    yield* writeAll(
      context,
      members
        .filter(({ submission_state }) => submission_state === "sending")
        .map((row) => ({
          submissions: [{ id: row.submission_id, state: "sent", sentAt: new Date(now), dueAt: null }],
          transitions: liveTransitions.submitted(row, `${reference}/${row.id}`, now)
        }))
    )
  })

  /** The members are not with the national system: they are sent again. */
  const abandon = Effect.fnUntraced(function* (sessionId: string, code?: number) {
    const now = yield* Clock.currentTimeMillis
    const members = yield* store.members(sessionId)
    yield* writeAll(
      context,
      members.map((row) => StatusRules.absent(row, now))
    )
    const change = { id: sessionId, state: "abandoned", dueAt: null } as const
    yield* store.write(lane, { sessions: [code === undefined ? change : { ...change, code }] })
  })

  const close = Effect.fnUntraced(function* (sessionId: string, organizationId: Ids.OrganizationId, reference: string) {
    yield* authorized(context, organizationId, "closeBatch", (accessToken) =>
      system.client.closeBatch({ accessToken, session: reference })
    ).pipe(
      Effect.catchTag("CallFailed", (error) =>
        error.failure._tag === "code" && error.failure.action === "already-closed" ? Effect.void : Effect.fail(error)
      )
    )
    const now = yield* Clock.currentTimeMillis
    yield* store.write(lane, {
      sessions: [{ id: sessionId, state: "closed", checkCount: 0, dueAt: new Date(now + LaneRules.pollWait(0, 0)) }]
    })
    yield* markSent(sessionId, reference)
    context.wake("verdicts")
  })

  const upload = Effect.fnUntraced(function* (
    part: Parameters<typeof system.client.uploadPart>[0],
    encrypted: Uint8Array
  ) {
    const startedAt = yield* Clock.currentTimeMillis
    while (true) {
      const result = yield* Effect.result(system.client.uploadPart(part, encrypted))
      if (result._tag === "Success") return true
      const now = yield* Clock.currentTimeMillis
      const failure = classify(result.failure)
      if (now - startedAt > uploadForMs || failure._tag !== "unavailable") return false
      yield* Effect.sleep(uploadRetryMs)
    }
  })

  const build = Effect.fnUntraced(function* (sessionId: string, ids: ReadonlyArray<Ids.InvoiceId>) {
    const invoices = yield* store.beginSubmissions(lane, sessionId, ids, null)
    const key = SessionKey.generate()
    const archive = yield* Effect.orDie(archiveOf(invoices))
    return { invoices, key, sealed: SealedDocument.seal(key, archive) }
  })

  const send: SendBatch = (organizationId, form, waiting) =>
    building.withPermits(1)(
      Effect.gen(function* () {
        const ids = fitting(waiting).map(({ id }) => id)
        mayHaveBatches = true
        const sessionId = yield* store.beginSession(lane, organizationId, "batch", form)
        const { invoices, key, sealed } = yield* build(sessionId, ids)
        if (invoices.length === 0) {
          yield* abandon(sessionId)
          return 0
        }
        const opening = Effect.gen(function* () {
          const publicKey = yield* context.keys.get("SymmetricKeyEncryption", context.call)
          return yield* authorized(context, organizationId, "openBatch", (accessToken) =>
            system.client.openBatch({
              accessToken,
              form: FormCode.formCodes[form],
              sessionKey: key,
              publicKey,
              archive: sealed,
              parts: [sealed]
            })
          )
        }).pipe(Effect.ensuring(Effect.sync(() => key.wipe())))
        const result = yield* Effect.result(opening)
        if (result._tag === "Failure") return yield* openFailed(organizationId, sessionId, invoices, result.failure)
        const { partUploadRequests, referenceNumber: reference } = result.success
        yield* store.write(lane, { sessions: [{ id: sessionId, state: "open", reference, dueAt: null }] })
        const [part] = partUploadRequests
        if (part === undefined || !(yield* upload(part, sealed.encrypted))) {
          yield* abandon(sessionId)
          return 0
        }
        yield* store.write(lane, {
          sessions: [{ id: sessionId, state: "uploaded", documentCount: invoices.length, dueAt: null }]
        })
        yield* Metric.update(KsefMetrics.batchDocuments, invoices.length)
        const closing = yield* Effect.result(close(sessionId, organizationId, reference))
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

  const openFailed = (
    organizationId: Ids.OrganizationId,
    sessionId: string,
    invoices: ReadonlyArray<SendingInvoice>,
    error: LoginError
  ) =>
    Effect.gen(function* () {
      if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
      const now = yield* Clock.currentTimeMillis
      const failure = stepFailure(context, error, now)
      const organization = context.organizations.get(organizationId)
      if (error._tag === "CredentialRefused" && organization !== undefined) yield* park(context, organization)
      const random = yield* Random.next
      const giveUp = { giveUpMs: context.giveUpMs, random }
      // The first was tried; the others wait with it.
      const others: StepFailure = failure.kind === "attempt" ? { ...failure, kind: "postponed" } : failure
      yield* writeAll(
        context,
        invoices.map((invoice, index) => notSent(invoice, index === 0 ? failure : others, now, giveUp))
      )
      yield* store.write(lane, { sessions: [{ id: sessionId, state: "abandoned", dueAt: null }] })
      return Math.max(failure.until, failure.stopsLane ? now + 5000 : now)
    })

  const readMembers = Effect.fnUntraced(function* (
    session: SessionRow,
    reference: string,
    ifMissing: (row: SubmissionRow, now: number) => Changes
  ) {
    const members = yield* store.members(session.id)
    const list = yield* SessionInvoiceList.read(context, session.organization_id, reference)
    const now = yield* Clock.currentTimeMillis
    const answers = yield* SessionInvoiceList.findAll(context, list, members)
    yield* writeAll(
      context,
      answers.filter(([, found]) => found === undefined).map(([row]) => ifMissing(row, now))
    )
    yield* writeVerdicts(
      context,
      answers
        .filter(([, found]) => found !== undefined)
        .map(([row, found]) => [{ ...row, submission_state: "sent" }, found] as const)
    )
  })

  const finish = (session: SessionRow, code: number) =>
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
      if (session.state === "open") return yield* abandon(id, status.code)
      return yield* close(id, organizationId, reference)
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
        const wait = LaneRules.pollWait(session.check_count + 1, now - session.created_at.getTime())
        return yield* store.write(lane, {
          sessions: [{ id, checkCount: session.check_count + 1, dueAt: new Date(now + wait) }]
        })
      }
      case "read-invoices":
        yield* readMembers(session, reference, (row) => ({
          submissions: [{ id: row.submission_id, dueAt: new Date(now + 30_000) }]
        }))
        return yield* finish(session, status.code)
      case "look-then-send-again":
        yield* readMembers(session, reference, StatusRules.absent)
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

  // The national system took none of them. They are submitted already, and sent again after a while.
  const abandonSent = Effect.fnUntraced(function* (session: SessionRow, code: number) {
    const members = yield* store.members(session.id)
    const now = yield* Clock.currentTimeMillis
    yield* Effect.annotateLogs(Effect.logWarning("KSeF did not process a batch"), { code, documents: members.length })
    const changes = yield* Effect.forEach(members, (row) =>
      Effect.map(store.submissionsOf(row.id), (all) =>
        StatusRules.resent(row, { code }, StatusRules.resendsOf(all), now)
      )
    )
    yield* writeAll(context, changes)
    yield* finish(session, code)
  })

  const checkOrPostpone = (session: SessionRow): Effect.Effect<void, LaneLost | SqlError.SqlError> =>
    check(session).pipe(
      Effect.catch((error: LoginError) =>
        Effect.gen(function* () {
          if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
          const now = yield* Clock.currentTimeMillis
          const { until } = stepFailure(context, error, now)
          const wait = LaneRules.pollWait(session.check_count + 1, now - session.created_at.getTime())
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
