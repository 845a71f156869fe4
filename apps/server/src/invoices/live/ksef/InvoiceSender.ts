/**
 * Sends waiting invoices: the step of a lane that chooses the route, interactive session or batch, and sends one by one.
 *
 * The order of writes is intent, call, outcome. An outcome that is not known stays the intent, and is looked up.
 */
import type { Ids } from "@govoice/core"
import { PolishTime } from "@govoice/ksef/format"
import { SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric, Option } from "effect"
import { Backoff } from "@govoice/dispatcher"
import * as LaneRules from "../LaneRules.ts"
import type { LaneOrganization, WaitingInvoice } from "./laneRows.ts"
import type { SendBatch } from "./BatchSender.ts"
import type { CallFailed } from "./CallFailure.ts"
import { type FormName, formOf } from "./documentForm.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import {
  authorized,
  type LaneContext,
  park,
  recentOrganizations,
  type StepFailure,
  stepFailure,
  timeToGiveUp,
  timeToGiveUpOf
} from "./LaneContext.ts"
import type { LoginError } from "./Logins.ts"
import type { InteractiveSessions, OpenSession } from "./InteractiveSessions.ts"
import { notOpened, notSent } from "./failedSend.ts"
import * as liveTransitions from "./liveTransitions.ts"

/** How many documents are sent one by one before the lane looks again at what waits. */
const perLook = 10

const maxBackoffMs = 300_000

/** The error code of a send in a session that is not open. */
const sessionNotOpen = 21180

interface Group {
  readonly organization: LaneOrganization
  readonly form: FormName
  readonly invoices: ReadonlyArray<WaitingInvoice>
}

/** The waiting documents, by the routes that are open to them: a batch that carries attachments takes the others along. */
const parts = (invoices: ReadonlyArray<WaitingInvoice>) => {
  const isAlone = ({ batch_limit: limit, needs_batch: needsBatch }: WaitingInvoice) => limit === 1 && !needsBatch
  const others = invoices.filter((invoice) => !isAlone(invoice))
  const hasAttachment = others.some(({ needs_batch: needsBatch }) => needsBatch)
  return [
    { by: "single", invoices: invoices.filter(isAlone) },
    { by: "batch", invoices: hasAttachment ? others : [] },
    { by: "any", invoices: others.filter(({ needs_batch: needsBatch }) => !needsBatch) }
  ].filter((part): part is typeof part & { readonly by: LaneRules.Waiting["by"] } => part.invoices.length > 0)
}

const oldestUnsent = (invoices: ReadonlyArray<WaitingInvoice>) => invoices.find(({ is_resend }) => !is_resend)

/** Makes the sending step. It returns when it has something to do next. */
export const make = (context: LaneContext, sessions: InteractiveSessions, sendBatch: SendBatch) => {
  const { lane, store, system } = context
  let turn = 0
  let lastBatchAt = 0
  let failuresInRow = 0
  let maintenanceInRow = 0
  let pausedUntil = 0

  const pause = (now: number) => {
    failuresInRow += 1
    const wait = Backoff.nextDelay({ attempt: failuresInRow, random: () => 0.5 }) ?? maxBackoffMs
    pausedUntil = now + Math.min(wait, maxBackoffMs)
  }

  // The reason of an outage is known later.
  const remember = (id: Ids.InvoiceId, { kind, stopsLane }: StepFailure) => {
    if (kind === "attempt" && stopsLane) context.process.outage.tried(id)
  }

  const failResend = Effect.fnUntraced(function* (id: Ids.InvoiceId, failure: StepFailure, now: number) {
    const changes = notOpened(yield* store.submissionsOf(id), failure, now, yield* timeToGiveUp(context))
    yield* store.write(lane, changes)
    if (changes.transitions?.some(({ transition }) => transition.emits !== null)) yield* context.wakeDeliveries
  })

  // The oldest invoice is the one that was tried. It is not claimed yet.
  const failOldest = Effect.fnUntraced(function* (id: Ids.InvoiceId, failure: StepFailure, now: number) {
    const stored = yield* store.find(id)
    if (stored === undefined || (stored.status !== "queued" && stored.status !== "retrying")) return
    const tried = { ...stored, status: "submitting", attempt_count: stored.attempt_count + 1 } as const
    const pending =
      failure.kind === "fail"
        ? liveTransitions.failed(tried, failure.reason, now)
        : failure.kind === "attempt"
          ? liveTransitions.attemptFailed(tried, failure.reason, now, yield* timeToGiveUpOf(context, stored))
          : undefined
    if (pending === undefined) return
    yield* store.write(lane, { transitions: [{ ...pending, statusBefore: stored.status }] })
    if (pending.transition.emits !== null) yield* context.wakeDeliveries
    remember(id, failure)
  })

  // The oldest one shows why it waits, and behind one that is sent again, the oldest that was not sent before.
  const recover = (organization: LaneOrganization, tried: ReadonlyArray<WaitingInvoice>) => (error: LoginError) =>
    Effect.gen(function* () {
      if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
      const now = yield* Clock.currentTimeMillis
      const failure = stepFailure(context, error, now)
      const [oldest] = tried
      const unsent = oldestUnsent(tried)
      if (error._tag === "CredentialRefused") {
        yield* park(context, organization, unsent === undefined ? failure.reason : undefined)
      }
      if (error._tag === "LoginPostponed") {
        const credential = organization.credential_updated_at.getTime()
        context.postponed.set(organization.id, { until: error.until, credential })
      }
      if (failure.stopsLane) pause(now)
      if (oldest?.is_resend === true) yield* failResend(oldest.id, failure, now)
      // A defect is that of one document.
      const isAnother = unsent !== oldest
      if (unsent !== undefined && !(isAnother && failure.kind === "fail")) yield* failOldest(unsent.id, failure, now)
      // No failure is followed by another call at once.
      return Math.max(failure.until, pausedUntil, now + 1000)
    })

  // The error says that the session is closed, and its status why.
  const lookForUnreadableKey = Effect.fnUntraced(function* (session: OpenSession, { failure }: CallFailed) {
    if (failure._tag !== "code" || failure.code !== sessionNotOpen) return
    const answer = yield* Effect.option(
      authorized(context, session.organizationId, "sessionStatus", (accessToken) =>
        system.client.sessionStatus({ accessToken, session: session.reference })
      )
    )
    if (Option.isNone(answer)) return
    if (SessionStatuses.sessionStatus("online", answer.value.status.code).action !== "refresh-keys") return
    context.keys.invalidate()
    context.process.breaker.unreadableKey(yield* Clock.currentTimeMillis)
  })

  const sendOne = Effect.fnUntraced(function* (session: OpenSession, id: Ids.InvoiceId, checkCount: number) {
    const begunAt = yield* Clock.currentTimeMillis
    const dueAt = new Date(begunAt + context.lookupTiming.mayArriveMs)
    const invoice = yield* store.beginSubmission(lane, session.id, id, dueAt)
    if (invoice === undefined) {
      // Its credential may be gone.
      context.organizationsReadAt = 0
      return undefined
    }
    const document = sessions.seal(session, invoice.xml)
    const result = yield* Effect.result(
      authorized(context, session.organizationId, "send", (accessToken) =>
        system.client.send({ accessToken, session: session.reference, document })
      )
    )
    const now = yield* Clock.currentTimeMillis
    if (result._tag === "Success") {
      failuresInRow = maintenanceInRow = 0
      context.process.breaker.readableKey()
      session.sent += 1
      session.usedAt = now
      const { referenceNumber: reference } = result.success
      yield* store.write(lane, {
        submissions: [
          {
            id: invoice.submission_id,
            state: "sent",
            reference,
            sentAt: new Date(now),
            checkCount,
            dueAt: new Date(now + LaneRules.pollWait(checkCount, 0))
          }
        ],
        transitions: liveTransitions.submitted(invoice, `${session.reference}/${reference}`, now)
      })
      context.wake("verdicts", now + LaneRules.pollWait(checkCount, 0))
      yield* context.wakeDeliveries
      return undefined
    }
    const error = result.failure
    if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
    if (error._tag === "CallFailed" && error.failure._tag === "unavailable" && error.failure.wasSent) {
      yield* Metric.update(KsefMetrics.unknownSends, 1)
      pause(now)
      const look = { id: invoice.submission_id, dueAt: new Date(now + 1000) }
      yield* store.write(lane, { submissions: [look] })
      context.wake("verdicts", now + 1000)
      return pausedUntil
    }
    const failure = stepFailure(context, error, now)
    const organization = context.organizations.get(session.organizationId)
    if (error._tag === "CredentialRefused" && organization !== undefined) yield* park(context, organization)
    if (failure.stopsLane) pause(now)
    if (failure.kind === "again") {
      if (error._tag === "CallFailed") yield* lookForUnreadableKey(session, error)
      yield* sessions.abandon(session)
      maintenanceInRow += 1
      if (maintenanceInRow > 1) pausedUntil = now + 300_000
    }
    const submissions = invoice.status === "submitted" ? yield* store.submissionsOf(invoice.id) : []
    const changes = notSent(invoice, submissions, failure, now, yield* timeToGiveUpOf(context, invoice))
    yield* store.write(lane, changes)
    remember(id, failure)
    if (changes.transitions?.some(({ transition }) => transition.emits !== null)) yield* context.wakeDeliveries
    return Math.max(failure.until, pausedUntil)
  })

  const sendSingly = Effect.fnUntraced(function* ({ form, invoices, organization }: Group, count: number) {
    const session = yield* sessions.get(organization.id, form)
    const checkCount = LaneRules.skippedPolls(invoices.length)
    for (const { id } of invoices.slice(0, Math.min(count, perLook))) {
      const stopUntil = yield* sendOne(session, id, checkCount)
      if (stopUntil !== undefined) return stopUntil
    }
    return invoices.length <= Math.min(count, perLook) ? Infinity : 0
  })

  const rejectUnknownForms = Effect.fnUntraced(function* (waiting: ReadonlyArray<WaitingInvoice>) {
    const unknown = waiting.filter((invoice) => formOf(invoice) === undefined && !invoice.is_resend)
    for (const { id } of unknown) {
      const now = yield* Clock.currentTimeMillis
      const stored = yield* store.find(id)
      if (stored === undefined) continue
      const reason = { code: "invalid_document", message: "KSeF takes no document of this form and schema version." }
      const pending = liveTransitions.rejected({ ...stored, status: "submitting" }, reason, now)
      yield* store.write(lane, { transitions: [{ ...pending, statusBefore: stored.status }] })
      yield* context.wakeDeliveries
    }
  })

  const toGroup = (organization: LaneOrganization, waiting: ReadonlyArray<WaitingInvoice>): Group | undefined => {
    const [oldest] = waiting.filter((invoice) => formOf(invoice) !== undefined)
    const form = oldest === undefined ? undefined : formOf(oldest)
    return form === undefined
      ? undefined
      : { organization, form, invoices: waiting.filter((invoice) => formOf(invoice) === form) }
  }

  // Returns when there is something to do next; `Infinity` where all of them were sent.
  const handle = Effect.fnUntraced(function* (group: Group) {
    const now = yield* Clock.currentTimeMillis
    const { windows } = lane
    const today = PolishTime.day(now)
    const capacity = {
      single: windows.capacity("invoiceSend", now, 60_000),
      singleAt: windows.earliest("invoiceSend", now),
      batchAt: Math.max(windows.earliest("batchSession", now), context.process.uploads.waitUntil(lane.nip)),
      lastBatchAt
    }
    let waitUntil = Infinity
    for (const { by, invoices } of parts(group.invoices)) {
      const waiting = {
        by,
        count: invoices.length,
        bytes: invoices.reduce((sum, { bytes }) => sum + bytes, 0),
        isDatedToday: invoices.some(({ issue_date }) => issue_date === today)
      }
      const route = LaneRules.route(waiting, capacity, LaneRules.isNearMidnight(PolishTime.timestamp(now)), now)
      if (route._tag === "interactive") {
        const sentAllAt = yield* sendSingly({ ...group, invoices }, route.count)
        return invoices.length < group.invoices.length ? Math.min(now, sentAllAt) : sentAllAt
      }
      if (route._tag === "batch") {
        lastBatchAt = now
        return yield* sendBatch(group.organization.id, group.form, invoices)
      }
      waitUntil = Math.min(waitUntil, route.until)
    }
    return waitUntil
  })

  const postponedUntilOf = ({ credential_updated_at, id }: LaneOrganization, now: number): number => {
    const postponed = context.postponed.get(id)
    return postponed !== undefined && postponed.credential === credential_updated_at.getTime() && postponed.until > now
      ? postponed.until
      : 0
  }

  // One invoice of a postponed organization shows why it waits. The others stay as they are.
  const showRefusal = Effect.fnUntraced(function* ({ id }: LaneOrganization, now: number) {
    const postponed = context.postponed.get(id)
    if (postponed?.reason === undefined) return
    const oldest = oldestUnsent(yield* store.waiting(id, LaneRules.batch.maxDocuments))
    if (oldest === undefined) return
    const failure = { reason: postponed.reason, kind: "attempt", until: now, stopsLane: false } as const
    yield* failOldest(oldest.id, failure, now)
    context.postponed.set(id, { ...postponed, reason: undefined })
  })

  const step = Effect.gen(function* () {
    yield* sessions.closeDue
    const startedAt = yield* Clock.currentTimeMillis
    const stopped = Math.max(pausedUntil, context.process.breaker.waitUntil(startedAt))
    if (stopped > startedAt) return { at: stopped, isIdle: false }
    const organizations = yield* recentOrganizations(context)
    let at = Infinity
    let isIdle = true
    let hasSent = false
    for (let index = 0; index < organizations.length; index++) {
      const organization = organizations[(turn + index) % organizations.length]!
      const now = yield* Clock.currentTimeMillis
      const postponedUntil = postponedUntilOf(organization, now)
      if (postponedUntil > 0) {
        yield* showRefusal(organization, now)
        at = Math.min(at, postponedUntil)
        isIdle = false
        continue
      }
      if (organization.credential_state === "unchecked") {
        const checked = context.logins.accessToken(organization)
        const failedAt = yield* Effect.matchEffect(checked, {
          onSuccess: () => Effect.succeed(0),
          onFailure: recover(organization, [])
        })
        if (failedAt > 0) {
          at = Math.min(at, failedAt)
          isIdle = false
          continue
        }
      }
      const waiting = yield* store.waiting(organization.id, LaneRules.batch.maxDocuments)
      yield* rejectUnknownForms(waiting)
      const group = toGroup(organization, waiting)
      if (group === undefined) continue
      const next = yield* handle(group).pipe(Effect.catch(recover(organization, group.invoices)))
      const sentAll = next === Infinity && group.invoices.length === waiting.length
      if (!sentAll) isIdle = false
      hasSent = true
      at = Math.min(at, sentAll ? (waiting[0]?.next_at?.getTime() ?? Infinity) : next === Infinity ? now : next)
      if (pausedUntil > now) break
    }
    turn += 1
    // Where all of the only organization was sent, what waits next was read with it.
    if (isIdle && !(hasSent && organizations.length === 1)) at = Math.min(at, yield* store.nextWaitingAt(lane.nip))
    return { at: Math.min(at, yield* sessions.closeDue), isIdle }
  })

  return step
}
