/** Sends up to 2,000 documents in one archive as a batch session. */
import type { Ids } from "@govoice/core"
import { SealedDocument, SessionKey, TarGz } from "@govoice/ksef/crypto"
import { FormCode, type SessionAnswers } from "@govoice/ksef/protocol"
import { Array as Arr, Clock, Effect, Metric, Stream } from "effect"
import * as BatchSessions from "./BatchSessions.ts"
import type { CallFailed, Failure } from "./CallFailure.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import * as LaneCalls from "./LaneCalls.ts"
import { authorized, type LaneContext } from "./LaneContext.ts"
import type { WaitingInvoice } from "./laneRows.ts"
import * as LaneRules from "./LaneRules.ts"
import type { LaneStore } from "./LaneStore.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"

const archiveRefused = "The archive of a batch could not be uploaded"
const incomplete = "Another invoice of the batch may not be sent any more, so that the batch was given up."

/** The oldest that fit into one batch, or into a smaller one after a refusal. */
const fitting = (invoices: ReadonlyArray<WaitingInvoice>): ReadonlyArray<WaitingInvoice> => {
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

/** Documents are read so many at a time while the archive is written, because a batch has up to 32 MiB of them. */
const documentsAtOnce = 50

/** Writes the archive of the documents of these invoices. */
const archiveOf = (store: LaneStore["Service"], ids: ReadonlyArray<Ids.InvoiceId>) => {
  const documents = Stream.fromIterable(Arr.chunksOf(ids, documentsAtOnce)).pipe(
    Stream.mapEffect(store.documents),
    Stream.flatMap(Stream.fromIterable),
    Stream.map((document) => ({ name: SessionInvoiceList.fileName(document), bytes: Buffer.from(document.xml) }))
  )
  return Stream.runCollect(TarGz.pack(documents)).pipe(
    Effect.map((chunks) => Buffer.concat(chunks)),
    Effect.catchTag("TarError", Effect.die)
  )
}

/** Uploads are repeated until the time that the national system gives for them, or for less where another batch waits. */
const uploadForMs = 15 * 60_000
const contendedUploadForMs = 30_000
const uploadRetryMs = 5000

/** An upload that takes longer is shown: the storage may have gone silent, and it is waited for as long as a slow one needs. */
const slowUploadMs = 20_000

const passing: ReadonlySet<Failure["_tag"]> = new Set(["postponed", "rate-limited", "unavailable"])

interface Batch {
  readonly sessionId: string
  readonly organizationId: Ids.OrganizationId
  readonly reference: string
  readonly part: SessionAnswers.PartUpload | undefined
  readonly encrypted: Uint8Array
  /** Of the caller, for waits. */
  readonly interruptible: <A>(wait: Effect.Effect<A>) => Effect.Effect<A>
}

/** Uploads an archive to the storage of KSeF, again and again for a while, and returns why it could not. */
const upload = Effect.fnUntraced(function* (
  { lane, process, system }: LaneContext,
  { encrypted, part, interruptible }: Pick<Batch, "encrypted" | "part" | "interruptible">
): Effect.fn.Return<Failure | undefined> {
  if (part === undefined) {
    return { _tag: "unavailable", wasSent: false, message: "KSeF returned no address for the archive." }
  }
  const startedAt = yield* Clock.currentTimeMillis
  const report = (why: string, until: number, now: number) => {
    const reason = { code: "gateway_unavailable", message: `The archive of a batch could not be uploaded yet. ${why}` }
    process.troubles.report(lane, "send", { reason, until: Math.max(now, until), isRoutine: false }, now)
  }
  const reportSlow = Effect.gen(function* () {
    yield* Effect.sleep(slowUploadMs)
    const now = yield* Clock.currentTimeMillis
    report(`The storage of KSeF has not taken it within ${slowUploadMs / 1000} s.`, now + slowUploadMs, now)
    return yield* Effect.never
  })
  while (true) {
    const error: CallFailed | undefined = yield* Effect.match(
      LaneCalls.storageCall(
        process,
        lane,
        "uploadPart",
        Effect.raceFirst(system.client.uploadPart(part, encrypted), reportSlow)
      ),
      { onFailure: (failed) => failed, onSuccess: () => undefined }
    )
    if (error === undefined || !passing.has(error.failure._tag)) return error?.failure
    const uploadUntil = startedAt + (process.batches.isContended ? contendedUploadForMs : uploadForMs)
    const now = yield* Clock.currentTimeMillis
    report(error.failure.message, error.until, now)
    if (Math.max(now, error.until) > uploadUntil) return error.failure
    // A stop need not wait for the next try: a batch that is not closed ends by itself.
    yield* interruptible(Effect.sleep(Math.max(uploadRetryMs, error.until - now)))
  }
})

const open = Effect.fnUntraced(function* (
  context: LaneContext,
  organizationId: Ids.OrganizationId,
  { form, offlineMode }: { readonly form: LaneRules.FormName; readonly offlineMode: boolean },
  sessionKey: SessionKey,
  sealed: SealedDocument.SealedDocument
) {
  const publicKey = yield* context.keys.get("SymmetricKeyEncryption", context.call)
  return yield* authorized(context, organizationId, "openBatch", (accessToken) =>
    context.system.client.openBatch({
      accessToken,
      form: FormCode.formCodes[form],
      sessionKey,
      publicKey,
      offlineMode,
      archive: sealed,
      parts: [sealed]
    })
  )
})

/** Closes an uploaded batch, after another upload where KSeF asks for one. */
const close = Effect.fnUntraced(function* (context: LaneContext, batch: Batch) {
  const { lane, process, store } = context
  const { sessionId } = batch
  const closeOnce = Effect.result(BatchSessions.close(context, sessionId, batch.organizationId, batch.reference))
  let closing = yield* closeOnce
  if (BatchSessions.refusedClose(closing)?.action === "upload-again") {
    const notUploaded = yield* upload(context, batch)
    if (notUploaded !== undefined) {
      return yield* BatchSessions.abandonFailed(context, sessionId, archiveRefused, notUploaded)
    }
    closing = yield* closeOnce
  }
  const refused = BatchSessions.refusedClose(closing)
  if (refused !== undefined) {
    return yield* BatchSessions.abandonFailed(context, sessionId, BatchSessions.closeRefused, refused)
  }
  process.uploads.succeeded(lane.context)
  process.troubles.resolve(lane.context, "send")
  if (closing._tag === "Success") return
  if (closing.failure._tag === "LaneLost" || closing.failure._tag === "SqlError") {
    return yield* Effect.fail(closing.failure)
  }
  // The verdict step reads the session, and closes it again where it is still open.
  const now = yield* Clock.currentTimeMillis
  yield* store.write(lane, { sessions: [{ id: sessionId, dueAt: new Date(now + 1000) }] })
  context.wake("verdicts")
})

/**
 * Sends the oldest of these invoices, which have one invoicing mode, as a batch. Fails where it cannot be opened. A stop waits for it,
 * because another holder of the lane would have to begin again.
 */
export const send = (
  context: LaneContext,
  organizationId: Ids.OrganizationId,
  form: LaneRules.FormName,
  waiting: ReadonlyArray<WaitingInvoice>
): Effect.Effect<void, LoginError> => {
  const { lane, store } = context
  return context.process.batches.withSlot(
    Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (interruptible) {
        const ids = fitting(waiting).map(({ id }) => id)
        context.hasUnfinishedSessions = true
        const sessionId = yield* store.beginSession(lane, organizationId, "batch")
        const key = SessionKey.generate()
        const sealed = SealedDocument.seal(key, yield* archiveOf(store, ids))
        const { partUploadRequests, referenceNumber: reference } = yield* open(
          context,
          organizationId,
          { form, offlineMode: waiting[0]?.invoicing_mode === "offline" },
          key,
          sealed
        ).pipe(
          Effect.ensuring(Effect.sync(() => key.wipe())),
          Effect.tapError((error) =>
            error._tag === "LaneLost" ? Effect.void : BatchSessions.abandon(context, sessionId, BatchSessions.notClosed)
          )
        )
        yield* store.write(lane, { sessions: [{ id: sessionId, state: "open", reference, dueAt: null }] })
        const begun = yield* store.beginBatch(lane, sessionId, ids)
        if (begun.length < ids.length) {
          // The archive has a document that must not be sent: its organization has deleted the credential.
          context.organizationsReadAt = 0
          return yield* BatchSessions.abandon(context, sessionId, incomplete)
        }
        const [part] = partUploadRequests
        const batch = { sessionId, organizationId, reference, part, encrypted: sealed.encrypted, interruptible }
        const notUploaded = yield* upload(context, batch)
        if (notUploaded !== undefined) {
          return yield* BatchSessions.abandonFailed(context, sessionId, archiveRefused, notUploaded)
        }
        yield* store.write(lane, {
          sessions: [{ id: sessionId, state: "uploaded", documentCount: ids.length, dueAt: null }]
        })
        yield* Metric.update(KsefMetrics.batchDocuments, ids.length)
        yield* close(context, batch)
      })
    )
  )
}
