/**
 * Sends one document in an interactive session.
 *
 * The order of writes is intent, call, outcome. An outcome that is not known stays the intent, and is looked up.
 */
import type { Ids } from "@govoice/core"
import { Backoff } from "@govoice/dispatcher"
import type { KsefClient } from "@govoice/ksef/client"
import { ErrorCodes, SessionStatuses } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric, Option } from "effect"
import * as InvoiceWarnings from "../InvoiceWarnings.ts"
import { failureOf, mayBeDone } from "./CallFailure.ts"
import * as DuplicateResolver from "./DuplicateResolver.ts"
import type { InteractiveSessions, OpenSession } from "./InteractiveSessions.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import {
  authorized,
  type LaneContext,
  park,
  reportTrouble,
  type StepFailure,
  stepFailure,
  timeToGiveUpOf
} from "./LaneContext.ts"
import * as LaneRules from "./LaneRules.ts"
import type { SendingInvoice } from "./laneRows.ts"
import * as liveTransitions from "./liveTransitions.ts"
import type { LoginError } from "./Logins.ts"
import { notSent } from "./sendOutcomes.ts"
import * as StatusPoller from "./StatusPoller.ts"
import * as StatusRules from "./StatusRules.ts"

const maxBackoffMs = 60_000

/** The error codes of a send in a session that is not open, and in none. Others leave it open. */
const sessionNotOpen = 21180
const noSession = 21173

/** What the sending step of a lane works on, and what it remembers between its runs. */
export interface Sending {
  readonly context: LaneContext
  readonly sessions: InteractiveSessions
  /** Which organization is served first. */
  turn: number
  failuresInRow: number
  maintenanceInRow: number
  sessionsInVain: number
  /** What a document that goes alone has taken lately. */
  sendMs: number
}

/** The time until which the lane sends nothing. It is kept with the lane: the next holder waits as long, and an invoice shows it. */
export const pausedUntil = ({ context }: Sending): number => context.lane.windows.pausedUntil("sending")
const pauseUntil = ({ context }: Sending, until: number): void => context.lane.windows.pause("sending", until)

/** Pauses the lane after a failure, for longer after each in a row. */
export const pause = (sending: Sending, now: number): void => {
  sending.failuresInRow += 1
  const wait = Backoff.nextDelay({ attempt: sending.failuresInRow, random: () => 0.5 }) ?? maxBackoffMs
  pauseUntil(sending, now + Math.min(wait, maxBackoffMs))
}

/** Remembers an invoice whose attempt an outage has failed: the reason of the outage is known later. */
export const remember = ({ process }: LaneContext, id: Ids.InvoiceId, { kind, stopsLane }: StepFailure): void => {
  if (kind === "attempt" && stopsLane) process.outage.tried(id)
}

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
  process.troubles.resolve(lane.context, "send")
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
    transitions: liveTransitions.submitted(invoice, now, InvoiceWarnings.ofSystem(warnings))
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

/**
 * Sends one document. Returns the time at which the lane may go on, unless it may at once. A stop waits for it: what was interrupted
 * between intent and outcome is looked up for two minutes before it is sent again.
 */
export const sendOne = Effect.fnUntraced(function* (
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
  sending.sendMs = (sending.sendMs + (yield* Clock.currentTimeMillis) - begunAt) / 2
  yield* sent(sending, session, invoice, result.success, checkCount)
  return undefined
}, Effect.uninterruptible)
