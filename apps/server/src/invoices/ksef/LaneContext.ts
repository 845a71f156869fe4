/** The state and services that the steps of a lane share, and calls with an access token. */
import type { Invoice } from "@govoice/core"
import type { KsefError } from "@govoice/ksef/client"
import type { Operation } from "@govoice/ksef/protocol"
import { Clock, Context, Effect, Random, type Redacted, type Semaphore } from "effect"
import type { GatewayCredentials } from "./GatewayCredentials.ts"
import type { Lane } from "./LaneQueue.ts"
import * as LaneRules from "./LaneRules.ts"
import { CallFailed, failureOf } from "./CallFailure.ts"
import * as LaneCalls from "./LaneCalls.ts"
import type { LaneProcess } from "./LaneProcess.ts"
import type { LaneOrganization, SendingInvoice, SubmissionRow } from "./laneRows.ts"
import type { GiveUp } from "./liveTransitions.ts"
import type { LaneStore } from "./LaneStore.ts"
import { credentialRefused } from "./waitReason.sql.ts"
import { CredentialRefused, type LoginError, type Logins, refusedUntil } from "./Logins.ts"
import type { NationalSystemShape } from "./NationalSystem.ts"
import * as StatusRules from "./StatusRules.ts"
import type { PublicKeyCache } from "./LaneCalls.ts"
import type { WaitingStep } from "./Troubles.ts"

/** The timing of lookups. Tests replace it by a shorter one. */
export const LookupTiming: Context.Reference<LaneRules.LookupTiming> = Context.Reference(
  "@govoice/server/invoices/ksef/LookupTiming",
  { defaultValue: () => LaneRules.lookupTiming }
)

export type StepName = WaitingStep | "receipts" | "credentials"

/**
 * An organization that cannot be logged in. `reason` is for the invoice that shows it, and `trouble` for all of them, unless the
 * credential is refused.
 */
export interface PostponedOrganization {
  readonly until: number
  readonly credential: number
  readonly trouble?: Invoice.Reason | undefined
  readonly reason?: Invoice.Reason | undefined
}

export interface LaneContext {
  readonly lane: Lane
  readonly process: LaneProcess
  readonly store: LaneStore["Service"]
  readonly system: NationalSystemShape
  readonly credentials: GatewayCredentials["Service"]
  readonly logins: Logins
  readonly keys: PublicKeyCache
  readonly call: LaneCalls.Call
  readonly lookupTiming: LaneRules.LookupTiming
  /** The organizations of the lane, as they were read last. */
  readonly organizations: Map<string, LaneOrganization>
  /** When they were read; 0 where they have to be read again. */
  organizationsReadAt: number
  /** Has one step read them at a time, so that no older answer replaces a newer one. */
  readonly reading: Semaphore.Semaphore
  /** Organizations that cannot be logged in: until when, and for which credential. */
  readonly postponed: Map<string, PostponedOrganization>
  /** Links to receipts, which are secrets and stored nowhere. */
  readonly links: Map<string, Redacted.Redacted>
  /** Invoices that were accepted a moment ago, a few, whose receipts are due: the step that fetches them need not read them. */
  readonly accepted: Array<SubmissionRow>
  /** When the next receipt that is not among them is due, as far as this holder knows; 0 where it has to be read. */
  receiptsAt: number
  /** Whether a session may have to be polled or closed. A new holder does not know. */
  hasUnfinishedSessions: boolean
  /** Schedules a step: at the given time, or immediately. */
  readonly wake: (step: StepName, at?: number) => void
  /** Makes the notified workers claim deliveries. */
  readonly wakeDeliveries: Effect.Effect<void>
}

/** How long the organizations of a lane are used as they were read. After a new credential they are read again at once. */
const organizationsMaxAgeMs = 5000

/** Returns the organizations of the lane, read a short time ago. */
export const recentOrganizations = (context: LaneContext) =>
  context.reading.withPermits(1)(
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      now - context.organizationsReadAt < organizationsMaxAgeMs
        ? Effect.succeed([...context.organizations.values()])
        : read(context)
    )
  )

/** Reads the organizations of the lane again. */
export const readOrganizations = (context: LaneContext) => context.reading.withPermits(1)(read(context))

const read = Effect.fnUntraced(function* (context: LaneContext) {
  // A credential that is stored from now on has them read again.
  context.organizationsReadAt = yield* Clock.currentTimeMillis
  const organizations = yield* context.store.organizations(context.lane.context)
  context.organizations.clear()
  for (const organization of organizations) {
    context.organizations.set(organization.id, organization)
    // Refused when an earlier holder had the lane.
    if (organization.credential_state === "refused" && !context.postponed.has(organization.id)) {
      const credential = organization.credential_updated_at.getTime()
      const until = refusedUntil(organization) ?? 0
      context.postponed.set(organization.id, { until, credential, reason: credentialRefused })
    }
    if (organization.credential_state === "unchecked" && postponedUntil(context, organization) === 0) {
      context.wake("credentials")
    }
  }
  return organizations
})

/** Until when no login is made for an organization; 0 where its credential was not postponed. */
export const postponedUntil = (
  { postponed }: Pick<LaneContext, "postponed">,
  { credential_updated_at, id }: LaneOrganization
): number => {
  const found = postponed.get(id)
  return found !== undefined && found.credential === credential_updated_at.getTime() ? found.until : 0
}

/** Where these alone are not authorized, KSeF takes and judges invoices all the same. */
const notForSending: ReadonlySet<Operation.Operation> = new Set([
  "closeOnline",
  "invoice",
  "invoiceUpo",
  "invoiceUpoByKsefNumber"
])

/**
 * Makes a call with an access token. One that is not accepted is refreshed once, then replaced by a new login. After a 403
 * without a reason there is one new login, before the lane rests.
 */
export const authorized = <A>(
  context: LaneContext,
  organizationId: string,
  operation: Operation.Operation,
  makeCall: (token: Redacted.Redacted) => Effect.Effect<A, KsefError>
): Effect.Effect<A, LoginError> => {
  const organization = context.organizations.get(organizationId)
  if (organization === undefined) {
    const message = "The organization has no KSeF credential for this taxpayer."
    return Effect.fail(new CredentialRefused({ code: undefined, message }))
  }
  const { lane, store } = context
  // The next holder expects one call of a group that was not stored.
  const storeEarlier = store.write(lane, {})
  const attempt = (remedies: ReadonlyArray<"refresh" | "login">): Effect.Effect<A, LoginError> =>
    Effect.flatMap(context.logins.accessToken(organization), (token) =>
      Effect.catchTag(context.call(operation, makeCall(token), storeEarlier), "CallFailed", (error) => {
        const { failure, until } = error
        // The right to read originals is none that sending needs.
        const isOfCall =
          operation === "invoice" && failure._tag === "refused" && failure.code === "credential_without_rights"
        if (failure._tag === "refused" && !isOfCall) {
          return refuse(context, organization, failure.code, failure.message)
        }
        if (failure._tag === "blocked" && !failure.isExplicit) {
          if (remedies.includes("login")) {
            context.logins.rejectToken(organization, token, "login")
            return attempt([])
          }
          return Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const blockedUntil = LaneCalls.block(context.process.breaker, lane, failure, { now, notBefore: until })
            return Effect.fail(new CallFailed({ call: operation, failure, until: blockedUntil }))
          })
        }
        if (failure._tag !== "unauthorized") return Effect.fail(error)
        const [remedy, ...others] = remedies
        // A refresh that KSeF refuses has logged in again.
        if (remedy !== "refresh" && notForSending.has(operation)) return Effect.fail(error)
        if (remedy === undefined) {
          return refuse(
            context,
            organization,
            "credential_invalid",
            "KSeF does not accept new tokens of the credential."
          )
        }
        context.logins.rejectToken(organization, token, remedy)
        return attempt(others)
      })
    )
  return attempt(["refresh", "login"])
}

const refuse = (
  { credentials }: LaneContext,
  organization: LaneOrganization,
  code: NonNullable<CredentialRefused["code"]>,
  message: string
) =>
  Effect.andThen(
    credentials.recordState(organization.id, organization.credential_updated_at, "refused", { code, message }),
    Effect.fail(new CredentialRefused({ code, message }))
  )

/** Parks an organization whose credential was refused: no call is made for it for a while, or until it is replaced. */
export const park = (context: LaneContext, { credential_updated_at, id }: LaneOrganization, reason?: Invoice.Reason) =>
  Effect.gen(function* () {
    yield* readOrganizations(context)
    const now = yield* Clock.currentTimeMillis
    const current = context.organizations.get(id)
    const credential = credential_updated_at.getTime()
    // Without a stored refusal, the credential is gone.
    const isStored = current?.credential_updated_at.getTime() === credential && current.credential_state === "refused"
    const until = (isStored ? refusedUntil(current) : undefined) ?? now + LaneRules.refusalWait(1)
    context.postponed.set(id, { until, credential, reason })
    context.wake("credentials")
    return until
  })

/** How long an invoice is tried that was not sent, with a random number for its next wait. */
export const timeToGiveUp = Effect.map(Random.next, (random): GiveUp => ({ giveUpMs: LaneRules.giveUpMs, random }))

/** The same of one invoice, which is tried without an end where KSeF may have it. */
export const timeToGiveUpOf = Effect.fnUntraced(function* (
  context: LaneContext,
  invoice: Pick<SendingInvoice, "id" | "status" | "first_failed_at">
) {
  const giveUp = yield* timeToGiveUp
  const failedSince = invoice.first_failed_at?.getTime()
  const now = yield* Clock.currentTimeMillis
  if (invoice.status === "submitted" || failedSince === undefined || now - failedSince < giveUp.giveUpMs) return giveUp
  const submissions = yield* context.store.submissionsOf(invoice.id)
  return StatusRules.mayHaveIt(submissions) ? { ...giveUp, giveUpMs: Infinity } : giveUp
})

/** The consequence of a failed step for its invoice. */
export interface StepFailure {
  readonly reason: Invoice.Reason
  /**
   * - `attempt`: it counts as an attempt.
   * - `postponed`: it does not; the invoice waits until `until`.
   * - `again`: the same at once, in another session.
   * - `fail`: a later attempt cannot succeed.
   * - `reject`: the national system will not take the document.
   */
  readonly kind: "attempt" | "postponed" | "again" | "fail" | "reject"
  readonly until: number
  /** Whether nothing else of the lane can succeed either, for a while. */
  readonly stopsLane: boolean
}

const reason = (code: string, message: string): Invoice.Reason => ({ code, message })

/**
 * Translates an error of a step. Errors of the database and of the lease are not for the invoice.
 *
 * Only the calls that open a session or send a document decide about the invoice: where another one failed before them, the step
 * is tried again.
 */
export const stepFailure = (
  context: LaneContext,
  error: CredentialRefused | CallFailed | Extract<LoginError, { _tag: "LoginPostponed" }>,
  now: number
): StepFailure => {
  if (error._tag === "CredentialRefused") {
    const code = error.code === undefined ? "gateway_credential_missing" : "gateway_credential_refused"
    return { reason: reason(code, error.message), kind: "attempt", until: now, stopsLane: false }
  }
  if (error._tag === "LoginPostponed") {
    const why = reason(error.code ?? "gateway_unavailable", error.message)
    return { reason: why, kind: "postponed", until: error.until, stopsLane: false }
  }
  const { failure, until } = error
  const { message } = failure
  switch (failure._tag) {
    case "postponed":
      return { reason: reason(failure.code, message), kind: "postponed", until, stopsLane: false }
    case "rate-limited":
      return { reason: reason("gateway_limit", message), kind: "postponed", until: soon(until, now), stopsLane: false }
    case "blocked":
      return { reason: reason("gateway_blocked", message), kind: "postponed", until: soon(until, now), stopsLane: true }
  }
  const unavailable = reason("gateway_unavailable", message)
  const own = failureOf(error, "openOnline", "openBatch", "send")
  if (own?._tag === "not-readable") return { reason: unavailable, kind: "again", until, stopsLane: false }
  if (own?._tag === "code") {
    if (own.action === "refresh-keys") context.keys.invalidate()
    if (againActions.has(own.action)) return { reason: unavailable, kind: "again", until, stopsLane: false }
    if (own.action === "reject") {
      return { reason: reason("correction_refused", message), kind: "reject", until, stopsLane: false }
    }
    if (own.action === "defect") {
      return { reason: reason("gateway_protocol_error", message), kind: "fail", until, stopsLane: false }
    }
    return { reason: unavailable, kind: "attempt", until, stopsLane: false }
  }
  const sentence = failure._tag === "unavailable" ? context.process.outage.sentence : ""
  return { reason: reason("gateway_unavailable", `${message}${sentence}`), kind: "attempt", until, stopsLane: true }
}

/** Keeps why the invoices of the lane wait for a step. A refused credential is a reason of its organization alone. */
export const reportTrouble = (
  { lane, process }: LaneContext,
  step: WaitingStep,
  error: LoginError,
  { reason: why, until }: Pick<StepFailure, "reason" | "until">,
  now: number
): void => {
  if (error._tag === "CredentialRefused") return
  const isRoutine = error._tag === "CallFailed" && error.failure._tag === "postponed"
  process.troubles.report(lane, step, { reason: why, until, isRoutine }, now)
}

/** The same while no calls are made at all, which the log of the circuit breaker says. */
export const reportBreaker = ({ lane, process }: LaneContext, step: WaitingStep, until: number, now: number): void =>
  process.troubles.report(lane, step, { reason: process.unavailable(), until, isRoutine: true }, now)

const soon = (until: number, now: number): number => Math.max(until, now + 1000)

const againActions: ReadonlySet<string> = new Set(["new-session", "new-batch", "refresh-keys", "already-closed"])
