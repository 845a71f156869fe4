/** Polls the statuses of submitted invoices: the step of a lane that also looks up sends whose outcome is not known. */
import { InvoiceStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { LaneLost } from "./LaneQueue.ts"
import * as LaneRules from "./LaneRules.ts"
import { isUnreadableSession } from "./CallFailure.ts"
import * as DuplicateResolver from "./DuplicateResolver.ts"
import {
  authorized,
  type LaneContext,
  park,
  readOrganizations,
  reportBreaker,
  reportTrouble,
  stepFailure,
  timeToGiveUpOf
} from "./LaneContext.ts"
import type { Changes, SubmissionRow } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"
import * as SessionInvoiceList from "./SessionInvoiceList.ts"
import * as StatusRules from "./StatusRules.ts"

const maxRows = 1000
const maxWritten = 200

// Tells the step that fetches receipts which invoices were accepted. It reads them from the database where there are many, or where
// not all are known here.
const handOver = (context: LaneContext, all: ReadonlyArray<Changes>) => {
  const isKnown = all.every(({ accepted, transitions = [] }) => accepted !== undefined || transitions.length === 0)
  if (isKnown && all.length <= LaneRules.maxPolledSingly) {
    context.accepted.push(...all.flatMap(({ accepted }) => accepted ?? []))
  } else context.receiptsAt = 0
}

/** Writes changes in chunks, wakes the workers of what follows, and returns the earliest time at which one of them is due again. */
export const writeAll = Effect.fnUntraced(function* (context: LaneContext, all: ReadonlyArray<Changes>) {
  let nextAt = Infinity
  for (let start = 0; start < all.length; start += maxWritten) {
    const changes = StatusRules.merge(all.slice(start, start + maxWritten))
    yield* context.store.write(context.lane, changes)
    if (changes.transitions?.some(({ transition }) => transition.emits !== null) === true) {
      yield* context.wakeDeliveries
    }
    if (changes.transitions?.some(({ transition }) => transition.emits === "invoice.accepted") === true) {
      handOver(context, all)
      context.wake("receipts")
    }
    if (changes.submissions?.some(({ state }) => state === "refused" || state === "absent") === true) {
      context.wake("send")
    }
    for (const { dueAt, state } of changes.submissions ?? []) {
      if (dueAt !== null && (state === undefined || state === "sent")) nextAt = Math.min(nextAt, dueAt.getTime())
    }
  }
  return nextAt
})

const submissionsIfSubmitted = ({ store }: LaneContext, { id, status }: SubmissionRow) =>
  status === "submitted" ? store.submissionsOf(id) : Effect.succeed([])

/** Returns the changes for a submission by what the national system says of it. */
export const changesFor = Effect.fnUntraced(function* (
  context: LaneContext,
  row: SubmissionRow,
  found: StatusRules.InvoiceStatus | undefined
) {
  const now = yield* Clock.currentTimeMillis
  if (row.submission_state === "sending") {
    const submissions = yield* submissionsIfSubmitted(context, row)
    return StatusRules.afterLookup(
      row,
      found,
      now,
      context.lookupTiming,
      yield* timeToGiveUpOf(context, row),
      submissions
    )
  }
  if (found === undefined) return StatusRules.unlisted(row, now)
  if (found.upoDownloadUrl) context.links.set(row.id, found.upoDownloadUrl)
  const decision = StatusRules.decide(row, found, now)
  if (decision === "resolve-duplicate") return yield* DuplicateResolver.resolve(context, row, found)
  if (decision === "count-resends") {
    const resends = StatusRules.resendsOf(yield* context.store.submissionsOf(row.id))
    return StatusRules.resent(row, found.status, resends, now)
  }
  if (decision.isUnknown === true) {
    yield* Effect.annotateLogs(Effect.logError("KSeF returned a status that no rule covers"), {
      invoiceId: row.id,
      code: found.status.code
    })
  }
  return decision.changes
})

/** Whether KSeF calls the document a duplicate. */
export const isDuplicate = ({ ksefNumber, status }: StatusRules.InvoiceStatus): boolean =>
  InvoiceStatuses.invoiceStatus(status.code, ksefNumber).action === "resolve-duplicate"

/**
 * Writes what follows from the statuses of submissions, and returns the time at which the next verdict of them is due. Duplicates come
 * last: whether the original is another invoice of the same document shows once that one is written.
 */
export const writeVerdicts = Effect.fnUntraced(function* (
  context: LaneContext,
  answers: ReadonlyArray<readonly [SubmissionRow, StatusRules.InvoiceStatus | undefined]>
) {
  const now = yield* Clock.currentTimeMillis
  const unlisted = answers.filter(([row, found]) => found === undefined && StatusRules.isNewlyUnlisted(row, now))
  if (unlisted.length > 0) {
    yield* Effect.annotateLogs(Effect.logWarning("KSeF does not list invoices that it has received"), {
      invoices: unlisted.length,
      session: unlisted[0]![0].session_reference
    })
  }
  let nextAt = Infinity
  for (const wanted of [false, true]) {
    const changes = yield* Effect.forEach(
      answers.filter(([, found]) => (found !== undefined && isDuplicate(found)) === wanted),
      ([row, found]) =>
        Effect.map(changesFor(context, row, found), (change) => withReference(row, found?.referenceNumber, change))
    )
    nextAt = Math.min(nextAt, yield* writeAll(context, changes))
  }
  return nextAt
})

// Documents of a batch get their references with the list.
const withReference = (row: SubmissionRow, reference: string | undefined, changes: Changes): Changes =>
  row.submission_reference !== null || reference === undefined
    ? changes
    : {
        ...changes,
        submissions: (changes.submissions ?? []).map((one) =>
          one.id === row.submission_id && one.reference === undefined ? { ...one, reference } : one
        )
      }

const failedChanges = (
  context: LaneContext,
  rows: ReadonlyArray<SubmissionRow>,
  error: LoginError
): Effect.Effect<ReadonlyArray<Changes>, LaneLost | SqlError.SqlError> =>
  Effect.gen(function* () {
    if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
    const now = yield* Clock.currentTimeMillis
    if (isUnreadableSession(error)) {
      const { session_id: session, session_unreadable_since: since } = rows[0]!
      if (since === null) yield* context.store.markUnreadable(context.lane, session, new Date(now))
      return yield* Effect.forEach(rows, (row) =>
        StatusRules.isGivenUp(row, now)
          ? Effect.map(context.store.submissionsOf(row.id), (all) => StatusRules.unreadable(row, all, now))
          : Effect.succeed(StatusRules.postponed(row, now))
      )
    }
    const [first] = rows
    const organization = first === undefined ? undefined : context.organizations.get(first.session_organization_id)
    const postponedUntil =
      error._tag === "CredentialRefused"
        ? organization === undefined
          ? now + StatusRules.postponeMs
          : yield* park(context, organization)
        : 0
    const failure = stepFailure(context, error, now)
    const { until } = failure
    reportTrouble(context, "verdicts", error, failure, now)
    return rows.map((row) => {
      const [change] = StatusRules.pending(row, now).submissions ?? []
      const dueAt = new Date(Math.max(postponedUntil, until, change!.dueAt!.getTime()))
      // A lookup that failed does not count.
      const checkCount = row.submission_state === "sending" ? row.check_count : change!.checkCount!
      const reasons = error._tag === "CredentialRefused" ? [{ id: row.id, failure: failure.reason }] : []
      return { submissions: [{ ...change!, checkCount, dueAt }], reasons }
    })
  })

const bySession = (rows: ReadonlyArray<SubmissionRow>): ReadonlyArray<ReadonlyArray<SubmissionRow>> => [
  ...Map.groupBy(rows, ({ session_id }) => session_id).values()
]

/** Reads the statuses of submissions of a session, writes what follows, and returns the time at which the next verdict is due. */
const checkSession = (context: LaneContext, rows: ReadonlyArray<SubmissionRow>) =>
  Effect.gen(function* () {
    const { session_organization_id: organization, session_reference: session } = rows[0]!
    // Never opened, as far as is known: nothing can be in it.
    if (session === null) {
      const now = yield* Clock.currentTimeMillis
      return yield* writeAll(
        context,
        yield* Effect.forEach(rows, (row) =>
          Effect.map(
            Effect.all([submissionsIfSubmitted(context, row), timeToGiveUpOf(context, row)]),
            ([submissions, giveUp]) => StatusRules.absent(row, submissions, now, giveUp)
          )
        )
      )
    }
    const needsList =
      rows.length > LaneRules.maxPolledSingly ||
      rows.some((row) => row.submission_state === "sending" || row.submission_reference === null)
    if (needsList) {
      const list = yield* SessionInvoiceList.read(context, organization, session)
      return yield* writeVerdicts(context, yield* SessionInvoiceList.findAll(context, list, rows))
    }
    const answers = yield* Effect.forEach(rows, (row) =>
      Effect.map(
        authorized(context, organization, "invoiceStatus", (accessToken) =>
          context.system.client.invoiceStatus({ accessToken, session, invoice: row.submission_reference! })
        ),
        (status) => [row, status] as const
      )
    )
    return yield* writeVerdicts(context, answers)
  }).pipe(
    Effect.tap(
      rows[0]!.session_unreadable_since === null
        ? Effect.void
        : context.store.markUnreadable(context.lane, rows[0]!.session_id, null)
    ),
    Effect.catch((error: LoginError) =>
      Effect.flatMap(failedChanges(context, rows, error), (changes) => writeAll(context, changes))
    )
  )

/** What polling the sessions of a lane did. */
export interface Polled {
  /** Whether KSeF was asked about a session. */
  readonly hasAsked: boolean
  /** The time at which the next session is due, in milliseconds; `Infinity` without one. */
  readonly nextAt: number
}

/** Makes the step. Its result has the time at which the next verdict is due. */
export const make = (context: LaneContext, pollBatches: Effect.Effect<Polled, LaneLost | SqlError.SqlError>) =>
  Effect.gen(function* () {
    const { breaker, troubles } = context.process
    const lane = context.lane.context
    const startedAt = yield* Clock.currentTimeMillis
    const openUntil = breaker.waitUntil(startedAt)
    if (openUntil > 0) {
      reportBreaker(context, "verdicts", openUntil, startedAt)
      return { at: openUntil }
    }
    const failures = troubles.failures(lane, "verdicts")
    if (context.organizations.size === 0) yield* readOrganizations(context)
    const batches = yield* pollBatches
    const due = yield* context.store.dueVerdicts(context.lane.context, maxRows)
    let at = Math.min(batches.nextAt, due.nextAt)
    for (const group of bySession(due.rows)) at = Math.min(at, yield* checkSession(context, group))
    // A step that asked for nothing says nothing, unless nothing is undecided.
    const hasAsked = due.rows.length > 0 || batches.hasAsked
    const isDone = due.rows.length === 0 && batches.nextAt === Infinity && due.nextAt === Infinity
    if (isDone || (hasAsked && troubles.failures(lane, "verdicts") === failures)) troubles.resolve(lane, "verdicts")
    return { at }
  })
