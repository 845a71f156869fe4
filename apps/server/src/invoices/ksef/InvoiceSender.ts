/**
 * Sends waiting invoices: the step of a lane that chooses the route, interactive session or batch, and sends one by one.
 *
 * The order of writes is intent, call, outcome. An outcome that is not known stays the intent, and is looked up.
 */
import type { Ids } from "@govoice/core"
import type { KsefClient } from "@govoice/ksef/client"
import { PolishTime } from "@govoice/ksef/format"
import { ErrorCodes, SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric, Option } from "effect"
import { Backoff } from "@govoice/dispatcher"
import * as InvoiceWarnings from "../InvoiceWarnings.ts"
import * as DuplicateResolver from "./DuplicateResolver.ts"
import * as LaneRules from "./LaneRules.ts"
import type {
  Changes,
  LaneOrganization,
  SendingInvoice,
  SubmissionChange,
  SubmissionRow,
  WaitingInvoice
} from "./laneRows.ts"
import * as BatchSender from "./BatchSender.ts"
import { failureOf, mayBeDone } from "./CallFailure.ts"
import * as LaneCalls from "./LaneCalls.ts"
import { type FormName, formOf } from "./LaneRules.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import {
  authorized,
  type LaneContext,
  park,
  recentOrganizations,
  reportBreaker,
  reportTrouble,
  type StepFailure,
  stepFailure,
  timeToGiveUp,
  timeToGiveUpOf
} from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"
import type { InteractiveSessions, OpenSession } from "./InteractiveSessions.ts"
import * as liveTransitions from "./liveTransitions.ts"
import * as StatusPoller from "./StatusPoller.ts"
import * as StatusRules from "./StatusRules.ts"

/** How many documents are sent one by one before the lane looks again at what waits. */
const perLook = 10

const maxBackoffMs = 300_000

/** The error codes of a send in a session that is not open, and in none. Others leave it open. */
const sessionNotOpen = 21180
const noSession = 21173

interface Group {
  readonly organization: LaneOrganization
  readonly form: FormName
  readonly invoices: ReadonlyArray<WaitingInvoice>
}

/** The waiting documents, by the routes that are open to them: a batch that carries attachments takes the others along. */
const parts = (invoices: ReadonlyArray<WaitingInvoice>) => {
  const isAlone = ({ batch_limit: limit, corrects, needs_batch: needsBatch }: WaitingInvoice) =>
    (limit === 1 || corrects !== null) && !needsBatch
  const others = invoices.filter((invoice) => !isAlone(invoice))
  const hasAttachment = others.some(({ needs_batch: needsBatch }) => needsBatch)
  return [
    { by: "single", invoices: invoices.filter(isAlone) },
    { by: "batch", invoices: hasAttachment ? others : [] },
    { by: "any", invoices: others.filter(({ needs_batch: needsBatch }) => !needsBatch) }
  ].filter((part): part is typeof part & { readonly by: LaneRules.Waiting["by"] } => part.invoices.length > 0)
}

const oldestUnsent = (invoices: ReadonlyArray<WaitingInvoice>) => invoices.find(({ is_resend }) => !is_resend)

/** What the sending step of a lane works on, and what it remembers between its runs. */
interface Sending {
  readonly context: LaneContext
  readonly sessions: InteractiveSessions
  /** Which organization is served first. */
  turn: number
  failuresInRow: number
  maintenanceInRow: number
  sessionsInVain: number
}

// Kept with the lane: the next holder waits as long, and an invoice shows it.
const pausedUntil = ({ context }: Sending): number => context.lane.windows.pausedUntil("sending")
const pauseUntil = ({ context }: Sending, until: number): void => context.lane.windows.pause("sending", until)

const pause = (sending: Sending, now: number): void => {
  sending.failuresInRow += 1
  const wait = Backoff.nextDelay({ attempt: sending.failuresInRow, random: () => 0.5 }) ?? maxBackoffMs
  pauseUntil(sending, now + Math.min(wait, maxBackoffMs))
}

// The reason of an outage is known later.
const remember = ({ process }: LaneContext, id: Ids.InvoiceId, { kind, stopsLane }: StepFailure): void => {
  if (kind === "attempt" && stopsLane) process.outage.tried(id)
}

const failResend = Effect.fnUntraced(function* (
  context: LaneContext,
  id: Ids.InvoiceId,
  failure: StepFailure,
  now: number
) {
  const changes = notOpened(yield* context.store.submissionsOf(id), failure, now, yield* timeToGiveUp(context))
  yield* context.store.write(context.lane, changes)
  if (changes.transitions?.some(({ transition }) => transition.emits !== null)) yield* context.wakeDeliveries
})

// The oldest invoice is the one that was tried. It is not claimed yet.
const failOldest = Effect.fnUntraced(function* (
  context: LaneContext,
  id: Ids.InvoiceId,
  failure: StepFailure,
  now: number
) {
  const stored = yield* context.store.find(id)
  if (stored === undefined || (stored.status !== "queued" && stored.status !== "retrying")) return
  const tried = { ...stored, status: "submitting", attempt_count: stored.attempt_count + 1 } as const
  const pending =
    failure.kind === "fail"
      ? liveTransitions.failed(tried, failure.reason, now)
      : failure.kind === "attempt"
        ? liveTransitions.attemptFailed(tried, failure.reason, now, {
            ...(yield* timeToGiveUpOf(context, stored)),
            notBefore: failure.until
          })
        : undefined
  if (pending === undefined) return
  yield* context.store.write(context.lane, { transitions: [{ ...pending, statusBefore: stored.status }] })
  if (pending.transition.emits !== null) yield* context.wakeDeliveries
  remember(context, id, failure)
})

// Shows on the oldest invoice why it waits. If that one is being sent again, the oldest that was never sent shows it too.
const recover = Effect.fnUntraced(function* (
  sending: Sending,
  organization: LaneOrganization,
  tried: ReadonlyArray<WaitingInvoice>,
  error: LoginError
) {
  if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
  const { context } = sending
  const now = yield* Clock.currentTimeMillis
  const found = stepFailure(context, error, now)
  if (found.stopsLane) pause(sending, now)
  const failure = { ...found, until: Math.max(found.until, pausedUntil(sending)) }
  const [oldest] = tried
  const unsent = oldestUnsent(tried)
  if (error._tag === "CredentialRefused") {
    yield* park(context, organization, unsent === undefined ? failure.reason : undefined)
  }
  if (error._tag === "LoginPostponed") {
    const credential = organization.credential_updated_at.getTime()
    context.postponed.set(organization.id, { until: error.until, credential, trouble: failure.reason })
  }
  reportTrouble(context, "send", error, failure, now)
  if (oldest?.is_resend === true) yield* failResend(context, oldest.id, failure, now)
  // A defect is that of one document.
  const isAnother = unsent !== oldest
  if (unsent !== undefined && !(isAnother && failure.kind === "fail")) {
    yield* failOldest(context, unsent.id, failure, now)
  }
  // No failure is followed by another call at once.
  return Math.max(failure.until, now + 1000)
})

// The error says that the session is closed, and its status why. One that is not read is read after the next such error.
const lookForUnreadableKey = Effect.fnUntraced(function* (context: LaneContext, session: OpenSession) {
  const answer = yield* Effect.option(
    authorized(context, session.organizationId, "sessionStatus", (accessToken) =>
      context.system.client.sessionStatus({ accessToken, session: session.reference })
    )
  )
  if (Option.isNone(answer)) return
  if (SessionStatuses.sessionStatus("online", answer.value.status.code).action !== "refresh-keys") return
  context.keys.invalidate()
  context.process.breaker.unreadableKey(yield* Clock.currentTimeMillis)
})

// Each code has its pause: maintenance a long one, and other sessions in vain that of a failure.
const otherSession = Effect.fnUntraced(function* (
  sending: Sending,
  session: OpenSession,
  error: LoginError,
  now: number
) {
  const failure = failureOf(error, "send")
  const code = failure?._tag === "code" ? failure.code : undefined
  if (code === sessionNotOpen) yield* lookForUnreadableKey(sending.context, session)
  yield* sending.sessions.abandon(session, { isOver: code === sessionNotOpen || code === noSession })
  sending.maintenanceInRow = code === ErrorCodes.maintenance ? sending.maintenanceInRow + 1 : 0
  sending.sessionsInVain += 1
  if (sending.maintenanceInRow > 1) pauseUntil(sending, now + LaneRules.maintenanceWaitMs)
  else if (sending.sessionsInVain >= LaneRules.maxOtherSessions) pause(sending, now)
})

/** KSeF has the document. */
const sent = Effect.fnUntraced(function* (
  sending: Sending,
  session: OpenSession,
  invoice: SendingInvoice,
  { referenceNumber: reference, warnings }: Effect.Success<ReturnType<KsefClient.KsefClient["send"]>>,
  checkCount: number
) {
  const { context } = sending
  const { lane, process } = context
  const now = yield* Clock.currentTimeMillis
  sending.failuresInRow = sending.maintenanceInRow = sending.sessionsInVain = 0
  process.troubles.resolve(lane.nip, "send")
  process.breaker.readableKey()
  session.sent += 1
  session.usedAt = now
  const pollAt = now + LaneRules.pollWait(checkCount, 0)
  yield* context.store.write(lane, {
    submissions: [
      {
        id: invoice.submission_id,
        state: "sent",
        reference,
        sentAt: new Date(now),
        checkCount,
        dueAt: new Date(pollAt)
      }
    ],
    transitions: liveTransitions.submitted(
      invoice,
      `${session.reference}/${reference}`,
      now,
      InvoiceWarnings.ofSystem(warnings)
    )
  })
  context.wake("verdicts", pollAt)
  yield* context.wakeDeliveries
})

/** The document was not sent, or nobody knows. Returns the time at which the lane may go on. */
const failed = Effect.fnUntraced(function* (
  sending: Sending,
  session: OpenSession,
  invoice: SendingInvoice,
  error: LoginError
) {
  if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
  const { context } = sending
  const { lane, store } = context
  const now = yield* Clock.currentTimeMillis
  if (mayBeDone(error, "send")) {
    yield* Metric.update(KsefMetrics.unknownSends, 1)
    pause(sending, now)
    const { reason } = stepFailure(context, error, now)
    reportTrouble(context, "send", error, { reason, until: pausedUntil(sending) }, now)
    const look = { id: invoice.submission_id, dueAt: new Date(now + 1000) }
    yield* store.write(lane, { submissions: [look], reasons: [{ id: invoice.id, failure: StatusRules.answerLost }] })
    context.wake("verdicts", now + 1000)
    return pausedUntil(sending)
  }
  const tried = stepFailure(context, error, now)
  const organization = context.organizations.get(session.organizationId)
  if (error._tag === "CredentialRefused" && organization !== undefined) yield* park(context, organization)
  if (tried.stopsLane) pause(sending, now)
  if (tried.kind === "again") yield* otherSession(sending, session, error, now)
  const failure = { ...tried, until: Math.max(tried.until, pausedUntil(sending)) }
  if (tried.kind !== "reject") reportTrouble(context, "send", error, failure, now)
  const needsAll = invoice.status === "submitted" || tried.kind === "reject"
  const submissions = needsAll ? yield* store.submissionsOf(invoice.id) : []
  if (tried.kind === "reject" && StatusRules.mayHaveIt(submissions)) {
    const steps = yield* DuplicateResolver.resolveCorrection(context, invoice, submissions, failure.reason)
    for (const changes of steps) yield* StatusPoller.writeAll(context, [changes])
    return undefined
  }
  const changes = notSent(invoice, submissions, failure, now, yield* timeToGiveUpOf(context, invoice))
  yield* store.write(lane, changes)
  remember(context, invoice.id, failure)
  if (changes.transitions?.some(({ transition }) => transition.emits !== null)) yield* context.wakeDeliveries
  return failure.until
})

/** Sends one document. Returns the time at which the lane may go on, unless it may at once. */
const sendOne = Effect.fnUntraced(function* (
  sending: Sending,
  session: OpenSession,
  id: Ids.InvoiceId,
  checkCount: number
) {
  const { context, sessions } = sending
  const begunAt = yield* Clock.currentTimeMillis
  const dueAt = new Date(begunAt + context.lookupTiming.mayArriveMs)
  const invoice = yield* context.store.beginSubmission(context.lane, session.id, id, dueAt)
  if (invoice === undefined) {
    // Its credential may be gone.
    context.organizationsReadAt = 0
    return undefined
  }
  const document = sessions.seal(session, invoice.xml)
  const hashOfCorrectedInvoice =
    invoice.corrects === null ? undefined : yield* context.store.documentHash(invoice.corrects)
  const result = yield* Effect.result(
    authorized(context, session.organizationId, "send", (accessToken) =>
      context.system.client.send({
        accessToken,
        session: session.reference,
        document,
        offlineMode: invoice.invoicing_mode === "offline",
        hashOfCorrectedInvoice
      })
    )
  )
  if (result._tag === "Failure") return yield* failed(sending, session, invoice, result.failure)
  yield* sent(sending, session, invoice, result.success, checkCount)
  return undefined
})

const sendSingly = Effect.fnUntraced(function* (
  sending: Sending,
  { form, invoices, organization }: Group,
  count: number
) {
  const session = yield* sending.sessions.get(organization.id, form)
  const checkCount = LaneRules.skippedPolls(invoices.length)
  for (const { id } of invoices.slice(0, Math.min(count, perLook))) {
    const stopUntil = yield* sendOne(sending, session, id, checkCount)
    if (stopUntil !== undefined) return stopUntil
  }
  return invoices.length <= Math.min(count, perLook) ? Infinity : 0
})

const rejectUnknownForms = Effect.fnUntraced(function* (
  { lane, store, wakeDeliveries }: LaneContext,
  waiting: ReadonlyArray<WaitingInvoice>
) {
  const unknown = waiting.filter((invoice) => formOf(invoice) === undefined && !invoice.is_resend)
  for (const { id } of unknown) {
    const now = yield* Clock.currentTimeMillis
    const stored = yield* store.find(id)
    if (stored === undefined) continue
    const reason = { code: "invalid_document", message: "KSeF takes no document of this form and schema version." }
    const pending = liveTransitions.rejected({ ...stored, status: "submitting" }, reason, now)
    yield* store.write(lane, { transitions: [{ ...pending, statusBefore: stored.status }] })
    yield* wakeDeliveries
  }
})

const toGroup = (organization: LaneOrganization, waiting: ReadonlyArray<WaitingInvoice>): Group | undefined => {
  const [oldest] = waiting.filter((invoice) => formOf(invoice) !== undefined)
  const form = oldest === undefined ? undefined : formOf(oldest)
  if (oldest === undefined || form === undefined) return undefined
  // A batch has one form, and one invoicing mode.
  const isAlike = (invoice: WaitingInvoice) =>
    formOf(invoice) === form && invoice.invoicing_mode === oldest.invoicing_mode
  return { organization, form, invoices: waiting.filter(isAlike) }
}

/** The calls that the windows of the lane allow now. */
const capacityOf = ({ lane, process }: LaneContext, rush: LaneRules.Rush | undefined, now: number) => ({
  single: lane.windows.capacity("invoiceSend", now, LaneRules.singlyWithin(rush, now)),
  singleAt: lane.windows.earliest("invoiceSend", now),
  batchAt: Math.max(
    lane.windows.earliest("batchSession", now),
    lane.windows.pausedUntil("uploadPart"),
    process.uploads.waitUntil(lane.nip)
  ),
  lastBatchAt: lane.windows.lastEnd("batchSession")
})

/** Sends documents of a group. Returns the time at which there is something to do next; `Infinity` where all of them were sent. */
const sendGroup = Effect.fnUntraced(function* (sending: Sending, group: Group) {
  const { context } = sending
  const { lane, process } = context
  const { windows } = lane
  const now = yield* Clock.currentTimeMillis
  const today = PolishTime.day(now)
  // The organizations of the lane share the openings.
  const rush = LaneRules.rushAt(PolishTime.timestamp(now), now, (untilMs, options) =>
    Math.floor(windows.capacity("batchSession", now, untilMs, options) / context.organizations.size)
  )
  const capacity = capacityOf(context, rush, now)
  let waitUntil = Infinity
  for (const { by, invoices } of parts(group.invoices)) {
    const waiting = {
      by,
      count: invoices.length,
      bytes: invoices.reduce((sum, { bytes }) => sum + bytes, 0),
      isDatedToday: invoices.some(({ issue_date }) => issue_date === today)
    }
    const route = LaneRules.route(waiting, capacity, rush, now)
    if (route._tag === "interactive") {
      const sentAllAt = yield* sendSingly(sending, { ...group, invoices }, route.count)
      return invoices.length < group.invoices.length ? Math.min(now, sentAllAt) : sentAllAt
    }
    if (route._tag === "batch") {
      yield* BatchSender.send(context, group.organization.id, group.form, invoices)
      return 0
    }
    waitUntil = Math.min(waitUntil, route.until)
  }
  const code = windows.reason("invoiceSend", now)
  const reason = { code, message: LaneCalls.waitMessages[code] }
  process.troubles.report(lane, "send", { reason, until: waitUntil, isRoutine: true }, now)
  return waitUntil
})

const postponedUntilOf = (
  { postponed }: LaneContext,
  { credential_updated_at, id }: LaneOrganization,
  now: number
): number => {
  const found = postponed.get(id)
  return found !== undefined && found.credential === credential_updated_at.getTime() && found.until > now
    ? found.until
    : 0
}

// One invoice of a postponed organization shows why it waits. The others stay as they are. While a login waits, other organizations
// may send: what they do says nothing about this one.
const showPostponed = Effect.fnUntraced(function* (
  context: LaneContext,
  { id }: LaneOrganization,
  until: number,
  now: number
) {
  const { lane, postponed, process, store } = context
  const found = postponed.get(id)
  if (found?.reason !== undefined) {
    const oldest = oldestUnsent(yield* store.waiting(id, LaneRules.batch.maxDocuments))
    if (oldest !== undefined) {
      const failure = { reason: found.reason, kind: "attempt", until: now, stopsLane: false } as const
      yield* failOldest(context, oldest.id, failure, now)
      postponed.set(id, { ...found, reason: undefined })
    }
  }
  if (found?.trouble !== undefined) {
    process.troubles.report(lane, "send", { reason: found.trouble, until, isRoutine: true }, now)
  }
})

/** The outcome for one organization: when there is something to do next, whether nothing of it waits, and whether it was tried at all. */
interface Served {
  readonly at: number
  readonly isIdle: boolean
  readonly hasSent: boolean
}

const notServed = (at: number): Served => ({ at, isIdle: false, hasSent: false })

/** Sends what waits of one organization, as far as it may. */
const serve = Effect.fnUntraced(function* (
  sending: Sending,
  organization: LaneOrganization
): Effect.fn.Return<Served, LoginError> {
  const { context } = sending
  const now = yield* Clock.currentTimeMillis
  const postponedUntil = postponedUntilOf(context, organization, now)
  if (postponedUntil > 0) {
    yield* showPostponed(context, organization, postponedUntil, now)
    return notServed(postponedUntil)
  }
  if (organization.credential_state === "unchecked") {
    const failedAt = yield* Effect.matchEffect(context.logins.accessToken(organization), {
      onSuccess: () => Effect.succeed(0),
      onFailure: (error) => recover(sending, organization, [], error)
    })
    if (failedAt > 0) return notServed(failedAt)
  }
  const waiting = yield* context.store.waiting(organization.id, LaneRules.batch.maxDocuments)
  yield* rejectUnknownForms(context, waiting)
  const group = toGroup(organization, waiting)
  if (group === undefined) return { at: Infinity, isIdle: true, hasSent: false }
  const next = yield* sendGroup(sending, group).pipe(
    Effect.catch((error) => recover(sending, organization, group.invoices, error))
  )
  const sentAll = next === Infinity && group.invoices.length === waiting.length
  const at = sentAll ? (waiting[0]?.next_at?.getTime() ?? Infinity) : next === Infinity ? now : next
  return { at, isIdle: sentAll, hasSent: true }
})

const step = Effect.fnUntraced(function* (sending: Sending) {
  const { context, sessions } = sending
  const { lane, process, store } = context
  yield* sessions.closeDue
  const startedAt = yield* Clock.currentTimeMillis
  const stopped = Math.max(pausedUntil(sending), process.breaker.waitUntil(startedAt))
  if (stopped > startedAt) {
    if (process.breaker.isOpen) reportBreaker(context, "send", stopped, startedAt)
    return { at: stopped, isIdle: false }
  }
  const organizations = yield* recentOrganizations(context)
  let at = Infinity
  let isIdle = true
  let hasSent = false
  for (let index = 0; index < organizations.length; index++) {
    const organization = organizations[(sending.turn + index) % organizations.length]!
    const now = yield* Clock.currentTimeMillis
    const served = yield* serve(sending, organization)
    at = Math.min(at, served.at)
    isIdle &&= served.isIdle
    hasSent ||= served.hasSent
    if (served.hasSent && pausedUntil(sending) > now) break
  }
  sending.turn += 1
  if (isIdle) process.troubles.resolve(lane.nip, "send")
  // Where all of the only organization was sent, what waits next was read with it.
  if (isIdle && !(hasSent && organizations.length === 1)) at = Math.min(at, yield* store.nextWaitingAt(lane.nip))
  return { at: Math.min(at, yield* sessions.closeDue), isIdle }
})

/** Makes the sending step. Its result has the time at which there is something to do next. */
export const make = (context: LaneContext, sessions: InteractiveSessions) =>
  step({ context, sessions, turn: 0, failuresInRow: 0, maintenanceInRow: 0, sessionsInVain: 0 })

/** The shortest wait before a submitted invoice is sent again that could not be. */
const shortestWaitMs = 60_000

/**
 * The outcome of an invoice that was not sent, as changes to write. `all` are the submissions of a submitted invoice, the newest
 * first.
 */
export const notSent = (
  invoice: SendingInvoice,
  all: ReadonlyArray<SubmissionRow>,
  failure: StepFailure,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const submission = (dueAt: number | null): SubmissionChange => ({
    id: invoice.submission_id,
    state: "refused",
    dueAt: dueAt === null ? null : new Date(dueAt)
  })
  if (failure.kind === "reject") {
    return { submissions: [submission(null)], transitions: [liveTransitions.rejected(invoice, failure.reason, now)] }
  }
  // Sent before: the invoice stays submitted, and the submission says when it is sent again.
  if (invoice.status === "submitted") {
    if (failure.kind === "fail" && !StatusRules.mayHaveIt(all)) {
      return { submissions: [submission(null)], transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    }
    const soonest = Math.max(failure.until, now + shortestWaitMs)
    const isAnotherSessionInVain =
      failure.kind === "again" && StatusRules.notReceived(all).count > LaneRules.maxOtherSessions
    if (failure.kind !== "attempt" && !isAnotherSessionInVain) {
      return { submissions: [submission(soonest)], reasons: [{ id: invoice.id, failure: failure.reason }] }
    }
    return StatusRules.triedAgain(invoice, all, failure.reason, soonest, now, giveUp)
  }
  const submissions = [submission(null)]
  switch (failure.kind) {
    case "fail":
      return { submissions, transitions: [liveTransitions.failed(invoice, failure.reason, now)] }
    case "attempt":
      return {
        submissions,
        transitions: [
          liveTransitions.attemptFailed(invoice, failure.reason, now, { ...giveUp, notBefore: failure.until })
        ]
      }
    default:
      return { submissions, transitions: [liveTransitions.postponed(invoice, failure.reason, failure.until, now)] }
  }
}

/**
 * The outcome of a submitted invoice that was due again, and whose session could not be opened, as changes to write. `all` are its
 * submissions, the newest first: the checks of that one count the failures since.
 */
export const notOpened = (
  all: ReadonlyArray<SubmissionRow>,
  failure: StepFailure,
  now: number,
  giveUp: liveTransitions.GiveUp
): Changes => {
  const [newest] = all
  if (newest?.submission_state !== "refused" || newest.status !== "submitted" || failure.kind === "postponed") return {}
  const submission = { id: newest.submission_id, state: "refused" } as const
  if (failure.kind === "fail" && !StatusRules.mayHaveIt(all)) {
    return {
      submissions: [{ ...submission, dueAt: null }],
      transitions: [liveTransitions.failed(newest, failure.reason, now)]
    }
  }
  const checkCount = newest.check_count + 1
  const { count, since: firstSentAt } = StatusRules.notReceived(all)
  const failedSince = now - LaneRules.retriedMs(newest.check_count)
  const since = count > 0 || StatusRules.mayHaveIt(all) ? firstSentAt : failedSince
  const firstAttemptAgeMs = since === undefined ? 0 : now - since
  const wait = LaneRules.retryWait({ attempt: checkCount, firstAttemptAgeMs, ...giveUp }) ?? 0
  const retryAt = now + Math.max(shortestWaitMs, wait)
  const changes = StatusRules.notSentAgain(newest, failure.reason, { giveUpMs: giveUp.giveUpMs, retryAt, since }, now)
  return { ...changes, submissions: (changes.submissions ?? []).map((change) => ({ ...change, checkCount })) }
}
