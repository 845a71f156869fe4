/** Fetches receipts (UPO): the step of a lane that checks them, and stores them byte for byte. */
import type { Invoice } from "@govoice/core"
import { Upo } from "@govoice/ksef/format"
import { Clock, Effect, Result, Semaphore, Stream } from "effect"
import * as LaneRules from "./LaneRules.ts"
import { failureOf } from "./CallFailure.ts"
import * as LaneCalls from "./LaneCalls.ts"
import { authorized, type LaneContext, park, readOrganizations, stepFailure } from "./LaneContext.ts"
import type { Changes, SubmissionRow } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"
import { writeAll } from "./StatusPoller.ts"
import * as liveTransitions from "./liveTransitions.ts"

const maxRows = 500

// Receipts are large: at most 116 of a lane are in memory at a time. While some are written, the next are fetched.
const linksAtOnce = 16
const writtenTogether = 50
const writesAtOnce = 2

/** The facts that a receipt has to confirm. */
export interface Expected {
  readonly session: string | null
  readonly context: string
  readonly ksefNumber: string | null
  /** SHA-256 of the document, in Base64. */
  readonly documentHash: string
  readonly isProduction: boolean
}

/** The name of the Ministry in production; other environments may add theirs. */
const ministry = "Ministerstwo Finansów"

/** Returns what is wrong with a receipt, or `undefined`. Its signature is not verified. */
export const faultOf = (xml: string, expected: Expected): string | undefined => {
  const upo = Upo.read(xml)
  if (upo === undefined) return "it is no UPO"
  const confirmed = upo.invoices.find(({ ksefNumber }) => ksefNumber === expected.ksefNumber)
  if (confirmed === undefined) return "it is about another KSeF number"
  if (confirmed.documentHash !== expected.documentHash) return "it is about another document"
  if (upo.context.value !== expected.context) return "it is of another context"
  if (expected.session !== null && upo.sessionReference !== expected.session) return "it is about another session"
  if (expected.isProduction && upo.receivingEntity !== ministry) return "it is of another environment"
  if (!upo.isSigned) return "it is not signed"
  return undefined
}

/** Returns how KSeF took the invoice, as its receipt says. */
export const officialModeOf = (xml: Uint8Array, ksefNumber: string | null): Invoice.InvoicingMode | undefined => {
  const mode = Upo.read(Buffer.from(xml).toString("utf8"))?.invoices.find(
    (confirmed) => confirmed.ksefNumber === ksefNumber
  )?.mode
  return mode === "Offline" ? "offline" : mode === "Online" ? "online" : undefined
}

const change = (row: SubmissionRow, dueAt: number | undefined) => ({
  id: row.submission_id,
  receiptCount: row.receipt_count + 1,
  dueAt: dueAt === undefined ? null : new Date(dueAt)
})

/** The receipt was not there, or is not the right one: it is requested again for a week. */
const later = (row: SubmissionRow, now: number, notBefore: number): Changes => {
  const wait = LaneRules.receiptWait(row.receipt_count, now - (row.completed_at ?? row.updated_at).getTime())
  return { submissions: [change(row, wait === undefined ? undefined : Math.max(now + wait, notBefore))] }
}

// There is room for many calls again a minute after the windows of the limits were full.
const roomMs = 60_000

// A credential that is accepted has its receipts requested at once.
const withoutCredentialMs = 3_600_000

/**
 * The receipt was not requested, because KSeF asks to wait, its limits leave no room, or no credential is accepted: that is no attempt,
 * however often.
 */
const postponed = (row: SubmissionRow, now: number, until: number): Changes => ({
  submissions: [{ id: row.submission_id, dueAt: new Date(Math.max(until, now + roomMs)) }]
})

const fetchByApi = (context: LaneContext, row: SubmissionRow, session: string) => {
  const { client } = context.system
  const { receiptLog } = context.process
  const { official_number: ksefNumber, original_session: original, submission_reference: invoice } = row
  const fetching =
    invoice === null || original !== null
      ? authorized(context, row.session_organization_id, "invoiceUpoByKsefNumber", (accessToken) =>
          client.invoiceUpoByKsefNumber({ accessToken, session, ksefNumber: ksefNumber ?? "" })
        )
      : authorized(context, row.session_organization_id, "invoiceUpo", (accessToken) =>
          client.invoiceUpo({ accessToken, session, invoice })
        )
  return fetching.pipe(
    Effect.tap(receiptLog.success),
    Effect.tapError((error) => {
      const failure = failureOf(error, "invoiceUpo", "invoiceUpoByKsefNumber")
      return failure?._tag === "unavailable" || failure?._tag === "unauthorized"
        ? receiptLog.failure(failure.message)
        : Effect.void
    })
  )
}

const receiptOf = (context: LaneContext, row: SubmissionRow, oneCall: Semaphore.Semaphore) =>
  Effect.gen(function* () {
    const session = row.original_session ?? row.session_reference
    const expected = {
      session,
      context: context.lane.context,
      ksefNumber: row.official_number,
      documentHash: Buffer.from(row.sha256).toString("base64"),
      isProduction: context.system.environment.name === "prod"
    }
    const check = (bytes: Uint8Array) => faultOf(Buffer.from(bytes).toString("utf8"), expected)
    const link = context.links.get(row.id)
    // The link has no limits. Where it fails, the API has the receipt, too, unless the storage asks to wait.
    if (link !== undefined) {
      const download = context.system.client.downloadUpo(link)
      const linked = yield* Effect.result(LaneCalls.storageCall(context.process, context.lane, "downloadUpo", download))
      if (Result.isFailure(linked) && linked.failure.until > (yield* Clock.currentTimeMillis)) {
        return yield* linked.failure
      }
      context.links.delete(row.id)
      if (Result.isSuccess(linked) && check(linked.success.bytes) === undefined) return linked.success.bytes
    }
    if (session === null) return undefined
    const { bytes } = yield* oneCall.withPermits(1)(fetchByApi(context, row, session))
    const fault = check(bytes)
    if (fault === undefined) return bytes
    yield* Effect.annotateLogs(Effect.logWarning("Receipt discarded"), { invoiceId: row.id, fault })
    return undefined
  })

const changesFor = (context: LaneContext, row: SubmissionRow, oneCall: Semaphore.Semaphore) =>
  Effect.gen(function* () {
    const bytes = yield* receiptOf(context, row, oneCall)
    const now = yield* Clock.currentTimeMillis
    return bytes === undefined
      ? later(row, now, 0)
      : {
          submissions: [change(row, undefined)],
          transitions: [liveTransitions.receipt(row, bytes, now, officialModeOf(bytes, row.official_number))]
        }
  }).pipe(
    Effect.catch((error: LoginError) =>
      Effect.gen(function* () {
        if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
        const now = yield* Clock.currentTimeMillis
        if (error._tag === "CredentialRefused") {
          const organization = context.organizations.get(row.session_organization_id)
          const until = organization === undefined ? now + withoutCredentialMs : yield* park(context, organization)
          return postponed(row, now, until)
        }
        const { kind, until } = stepFailure(context, error, now)
        return kind === "postponed" ? postponed(row, now, until) : later(row, now, until)
      })
    )
  )

/** Makes the step. Its result has the time at which the next receipt is due. */
export const make = (context: LaneContext) => {
  // A step of a lane makes one call of the API at a time. Links are not calls of the API, and have no limits.
  const oneCall = Semaphore.makeUnsafe(1)
  return Effect.gen(function* () {
    const openUntil = context.process.breaker.waitUntil(yield* Clock.currentTimeMillis)
    if (openUntil > 0) return { at: openUntil }
    if (context.organizations.size === 0) yield* readOrganizations(context)
    const accepted = context.accepted.splice(0)
    const now = yield* Clock.currentTimeMillis
    const isKnown = accepted.length > 0 && now < context.receiptsAt
    // An invoice that is accepted while this step reads and writes sets it to 0, and is not overlooked.
    if (!isKnown) context.receiptsAt = Infinity
    const due = isKnown
      ? { rows: accepted, nextAt: Infinity }
      : yield* context.store.dueReceipts(context.lane.context, maxRows)
    const nextAt = yield* Stream.fromIterable(due.rows).pipe(
      Stream.mapEffect((row) => changesFor(context, row, oneCall), { concurrency: linksAtOnce, unordered: true }),
      Stream.grouped(writtenTogether),
      Stream.mapEffect((changes) => writeAll(context, changes), { concurrency: writesAtOnce, unordered: true }),
      Stream.runFold(() => due.nextAt, Math.min)
    )
    context.receiptsAt = Math.min(context.receiptsAt, nextAt)
    return { at: context.receiptsAt }
  })
}
