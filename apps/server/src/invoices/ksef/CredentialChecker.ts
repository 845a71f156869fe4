/**
 * Logs in with credentials that KSeF has not accepted: the step of a lane beside those of the organizations whose credentials are.
 *
 * Anybody can store a credential of a taxpayer, as many as they like. What their logins take, and what they are answered, is for
 * nobody else.
 */
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { failOldest, oldestUnsent, showFailure } from "./InvoiceSender.ts"
import {
  type LaneContext,
  park,
  postponedUntil,
  readOrganizations,
  recentOrganizations,
  reportBreaker,
  reportTrouble,
  stepFailure
} from "./LaneContext.ts"
import type { LaneLost } from "./LaneQueue.ts"
import * as LaneRules from "./LaneRules.ts"
import type { LaneOrganization } from "./laneRows.ts"
import type { LoginError } from "./Logins.ts"

const waitingOf = ({ store }: LaneContext, { id }: LaneOrganization) => store.waiting(id, LaneRules.batch.maxDocuments)

// Whether what the organization waits for is that of all invoices of the lane.
const isOnly = ({ organizations }: LaneContext): boolean => organizations.size === 1

// One invoice of a postponed organization shows why it waits. The others stay as they are.
const showPostponed = Effect.fnUntraced(function* (
  context: LaneContext,
  organization: LaneOrganization,
  until: number,
  now: number
) {
  const { lane, postponed, process } = context
  const found = postponed.get(organization.id)
  if (found?.reason !== undefined) {
    const oldest = oldestUnsent(yield* waitingOf(context, organization))
    if (oldest !== undefined) {
      const failure = { reason: found.reason, kind: "attempt", until: now, stopsLane: false } as const
      yield* failOldest(context, oldest.id, failure, now)
      postponed.set(organization.id, { ...found, reason: undefined })
    }
  }
  if (found?.trouble !== undefined && isOnly(context)) {
    process.troubles.report(lane, "send", { reason: found.trouble, until, isRoutine: true }, now)
  }
})

const recover = Effect.fnUntraced(function* (
  context: LaneContext,
  organization: LaneOrganization,
  error: LoginError
): Effect.fn.Return<void, LaneLost | SqlError.SqlError> {
  if (error._tag === "LaneLost" || error._tag === "SqlError") return yield* Effect.fail(error)
  const now = yield* Clock.currentTimeMillis
  const failure = stepFailure(context, error, now)
  const waiting = yield* waitingOf(context, organization)
  if (error._tag === "CredentialRefused") {
    yield* park(context, organization, oldestUnsent(waiting) === undefined ? failure.reason : undefined)
  } else {
    const credential = organization.credential_updated_at.getTime()
    const until = Math.max(failure.until, now + 1000)
    context.postponed.set(organization.id, { until, credential, trouble: failure.reason })
  }
  if (isOnly(context)) reportTrouble(context, "send", error, failure, now)
  yield* showFailure(context, waiting, failure, now)
})

const check = (context: LaneContext, organization: LaneOrganization) =>
  Effect.matchEffect(context.logins.accessToken(organization), {
    onSuccess: () =>
      Effect.andThen(
        readOrganizations(context),
        Effect.sync(() => {
          context.wake("send")
          context.wake("verdicts")
          context.receiptsAt = 0
          context.wake("receipts")
        })
      ),
    onFailure: (error) => recover(context, organization, error)
  })

/** Makes the step. Its result has the time at which the next credential is to be tried. */
export const make = (context: LaneContext) =>
  Effect.gen(function* () {
    const { lane, process, store } = context
    const startedAt = yield* Clock.currentTimeMillis
    const stopped = Math.max(lane.windows.pausedUntil("sending"), process.breaker.waitUntil(startedAt))
    if (stopped > startedAt) {
      if (process.breaker.isOpen) reportBreaker(context, "send", stopped, startedAt)
      return { at: stopped }
    }
    const organizations = yield* recentOrganizations(context)
    let at = Infinity
    const idle: Array<string> = []
    const ready: Array<{ readonly organization: LaneOrganization; readonly since: number }> = []
    for (const organization of organizations.filter((one) => one.credential_state !== "accepted")) {
      const until = postponedUntil(context, organization)
      const isNew = organization.credential_state === "unchecked"
      if (until > startedAt) {
        yield* showPostponed(context, organization, until, startedAt)
        at = Math.min(at, until)
      } else if (isNew || (yield* store.waiting(organization.id, 1)).length > 0) {
        ready.push({ organization, since: Math.max(until, organization.credential_updated_at.getTime()) })
      } else idle.push(organization.id)
    }
    // The longest ready first: one that is replaced again and again delays no other one.
    const [next, ...others] = ready.toSorted((left, right) => left.since - right.since)
    if (next !== undefined) yield* check(context, next.organization)
    if (idle.length === organizations.length) process.troubles.resolve(lane.context, "send")
    if (idle.length > 0) at = Math.min(at, yield* store.nextWaitingAt(lane.context, idle))
    if (next === undefined) return { at, idle }
    const until = postponedUntil(context, next.organization)
    return { at: others.length > 0 ? startedAt : until > 0 ? Math.min(at, until) : at, idle }
  })
