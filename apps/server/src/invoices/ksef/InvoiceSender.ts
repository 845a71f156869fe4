/**
 * Sends waiting invoices: the step of a lane that serves its organizations in turn, and chooses the route, interactive session or
 * batch.
 */
import type { Ids } from "@govoice/core"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Effect } from "effect"
import * as BatchSender from "./BatchSender.ts"
import { failureOf } from "./CallFailure.ts"
import { pause, pausedUntil, remember, type Sending, sendOne } from "./DocumentSender.ts"
import type { InteractiveSessions } from "./InteractiveSessions.ts"
import * as LaneCalls from "./LaneCalls.ts"
import {
  type LaneContext,
  park,
  postponedUntil,
  recentOrganizations,
  reportBreaker,
  reportTrouble,
  type StepFailure,
  stepFailure,
  timeToGiveUp,
  timeToGiveUpOf
} from "./LaneContext.ts"
import * as LaneRules from "./LaneRules.ts"
import { type FormName, formOf } from "./LaneRules.ts"
import type { LaneOrganization, WaitingInvoice } from "./laneRows.ts"
import * as liveTransitions from "./liveTransitions.ts"
import type { LoginError } from "./Logins.ts"
import { notOpened } from "./sendOutcomes.ts"

/** How many documents are sent one by one before the lane looks again at what waits. */
const perLook = 10

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

/** The oldest of these invoices that was never sent. */
export const oldestUnsent = (invoices: ReadonlyArray<WaitingInvoice>) => invoices.find(({ is_resend }) => !is_resend)

const failResend = Effect.fnUntraced(function* (
  context: LaneContext,
  id: Ids.InvoiceId,
  failure: StepFailure,
  now: number
) {
  const changes = notOpened(yield* context.store.submissionsOf(id), failure, now, yield* timeToGiveUp)
  yield* context.store.write(context.lane, changes)
  if (changes.transitions?.some(({ transition }) => transition.emits !== null)) yield* context.wakeDeliveries
})

/** The oldest invoice is the one that was tried. It is not claimed yet. */
export const failOldest = Effect.fnUntraced(function* (
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

/** Shows on the oldest invoice why it waits. If that one is being sent again, the oldest that was never sent shows it too. */
export const showFailure = Effect.fnUntraced(function* (
  context: LaneContext,
  tried: ReadonlyArray<WaitingInvoice>,
  failure: StepFailure,
  now: number
) {
  const [oldest] = tried
  const unsent = oldestUnsent(tried)
  if (oldest?.is_resend === true) yield* failResend(context, oldest.id, failure, now)
  // A defect is that of one document.
  const isAnother = unsent !== oldest
  if (unsent !== undefined && !(isAnother && failure.kind === "fail")) {
    yield* failOldest(context, unsent.id, failure, now)
  }
})

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
  // The windows keep a wait of batches. What may go alone does not wait for it.
  const ofBatch = failureOf(error, "openBatch")
  const until = ofBatch === undefined || ofBatch._tag === "blocked" ? found.until : now
  const failure = { ...found, until: Math.max(until, pausedUntil(sending)) }
  if (error._tag === "CredentialRefused") {
    yield* park(context, organization, oldestUnsent(tried) === undefined ? failure.reason : undefined)
  }
  if (error._tag === "LoginPostponed") {
    const credential = organization.credential_updated_at.getTime()
    context.postponed.set(organization.id, { until: error.until, credential, trouble: failure.reason })
  }
  reportTrouble(context, "send", error, failure, now)
  yield* showFailure(context, tried, failure, now)
  // No failure is followed by another call at once.
  return Math.max(failure.until, now + 1000)
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
const capacityOf = ({ context, sendMs }: Sending, rush: LaneRules.Rush | undefined, now: number) => {
  const { lane, process } = context
  const withinMs = LaneRules.singlyWithin(rush, now)
  return {
    single: Math.min(lane.windows.capacity("invoiceSend", now, withinMs), LaneRules.fitting(withinMs, sendMs)),
    singleAt: lane.windows.earliest("invoiceSend", now),
    batchAt: Math.max(
      lane.windows.earliest("batchSession", now),
      lane.windows.pausedUntil("uploadPart"),
      process.uploads.waitUntil(lane.context)
    ),
    lastBatchAt: lane.windows.lastEnd("batchSession")
  }
}

/** Sends documents of a group. Returns the time at which there is something to do next; `Infinity` where all of them were sent. */
const sendGroup = Effect.fnUntraced(function* (sending: Sending, group: Group) {
  const { context } = sending
  const { lane, process } = context
  const { windows } = lane
  const now = yield* Clock.currentTimeMillis
  const today = PolishTime.day(now)
  const rush = LaneRules.rushAt(PolishTime.timestamp(now), now, (untilMs, options) =>
    LaneRules.shareOf(windows.capacity("batchSession", now, untilMs, options), [...context.organizations.values()])
  )
  const capacity = capacityOf(sending, rush, now)
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
  const until = postponedUntil(context, organization)
  if (until > now) {
    const reason = context.postponed.get(organization.id)?.trouble
    if (reason !== undefined)
      context.process.troubles.report(context.lane, "send", { reason, until, isRoutine: true }, now)
    return notServed(until)
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
    return { at: stopped }
  }
  // The others are for the step that checks their credentials.
  const organizations = (yield* recentOrganizations(context)).filter((one) => one.credential_state === "accepted")
  let at = Infinity
  const idle: Array<string> = []
  let hasSent = false
  for (let index = 0; index < organizations.length; index++) {
    const organization = organizations[(sending.turn + index) % organizations.length]!
    const now = yield* Clock.currentTimeMillis
    const served = yield* serve(sending, organization)
    at = Math.min(at, served.at)
    if (served.isIdle) idle.push(organization.id)
    hasSent ||= served.hasSent
    if (served.hasSent && pausedUntil(sending) > now) break
  }
  sending.turn += 1
  if (organizations.length > 0 && idle.length === organizations.length) {
    process.troubles.resolve(lane.context, "send")
  }
  // Where all of the only organization was sent, what waits next was read with it.
  if (idle.length > 0 && !(hasSent && organizations.length === 1)) {
    at = Math.min(at, yield* store.nextWaitingAt(lane.context, idle))
  }
  return { at: Math.min(at, yield* sessions.closeDue), idle }
})

/** Makes the sending step. Its result has the time at which there is something to do next. */
export const make = (context: LaneContext, sessions: InteractiveSessions) =>
  step({
    context,
    sessions,
    turn: 0,
    failuresInRow: 0,
    maintenanceInRow: 0,
    sessionsInVain: 0,
    sendMs: LaneRules.firstSendMs
  })
