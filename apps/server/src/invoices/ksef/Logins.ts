/**
 * Logs organizations in to KSeF by token or certificate, and refreshes their access tokens.
 *
 * Tokens are sealed in the database, so that the next holder of a lane goes on without a login. One holder at a time logs in
 * for an organization: nothing else has to prevent concurrent refreshes.
 */
import type { KsefClient, KsefError } from "@govoice/ksef/client"
import type { PublicKeys } from "@govoice/ksef/crypto"
import { type LoginAnswers, LoginStatuses, type Operation } from "@govoice/ksef/protocol"
import { LoginDocument, SigningCredential } from "@govoice/ksef/xades"
import { Clock, Data, Effect, Metric, Option, Redacted, Result, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { GatewayCredentials, StoredCredential } from "./GatewayCredentials.ts"
import { type Lane, LaneLost, LaneQueue } from "./LaneQueue.ts"
import { type CallFailed, failureOf, type WaitCode, withDetails } from "./CallFailure.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import { credentialRefused } from "./waitReason.sql.ts"
import * as LaneRules from "./LaneRules.ts"
import type { Call, PublicKeyCache } from "./LaneCalls.ts"
import type { LaneOrganization } from "./laneRows.ts"
import type { FailedLogins, TokenLoginSunset } from "./LaneProcess.ts"
import { KeyRing, KeyUnavailable } from "../../crypto/KeyRing.ts"

/** Tokens of an organization. Times are milliseconds since the epoch. */
export interface Tokens {
  readonly credentialUpdatedAt: number
  readonly access: Redacted.Redacted
  readonly accessUntil: number
  /** How long before its end the access token is refreshed. */
  readonly earlyMs: number
  readonly refresh: Redacted.Redacted
  readonly refreshUntil: number
}

/** Keeps tokens. */
export interface TokenStore {
  readonly read: (organizationId: string) => Effect.Effect<Tokens | undefined, SqlError.SqlError>
  /** Stores tokens, and returns whether the organization still has their credential. */
  readonly write: (organizationId: string, tokens: Tokens) => Effect.Effect<boolean, LaneLost | SqlError.SqlError>
}

/**
 * An organization cannot be logged in: `code` of the refusal, or absent where the credential is.
 */
export class CredentialRefused extends Data.TaggedError("CredentialRefused")<{
  readonly code: LoginStatuses.CredentialCode | undefined
  readonly message: string
}> {}

/** The login has to wait until a time. */
export class LoginPostponed extends Data.TaggedError("LoginPostponed")<{
  readonly until: number
  readonly message: string
  /** Why. By default, KSeF is unavailable. */
  readonly code?: WaitCode
}> {}

export type LoginError = CredentialRefused | LoginPostponed | CallFailed | LaneLost | SqlError.SqlError

/** The result of a login. */
export type LoginEnd =
  | { readonly _tag: "tokens"; readonly tokens: typeof LoginAnswers.Tokens.Type }
  | {
      readonly _tag: "ended"
      readonly action: LoginStatuses.LoginAction
      readonly refusal: LoginRefusal
      /** The status of the login, where it got so far. */
      readonly status?: number
      /** The call that failed, where it is the credential that has to wait. */
      readonly failed?: CallFailed
    }

interface LoginRefusal {
  readonly code: LoginStatuses.CredentialCode
  readonly message: string
}

/** How long before its end a token is refreshed, unless it lives so short that this is most of its life. */
const refreshEarlyMs = 90_000

const earlyMs = (lifetimeMs: number): number => Math.min(refreshEarlyMs, lifetimeMs / 4)

const pollWaits = [300, 700, 1000, 1000]
const maxPolls = 32

/** Waits after a login that KSeF could not process; then the last one again. */
const processingWaits = [5000, 30_000, 120_000]

/** How often an inactive token is tried again, a minute apart: it may be about to be activated. */
const activationTries = 3

/** The status of a login whose token is refused. */
const tokenRefused = 450

const tokenLoginsEnded = {
  code: "token_login_refused",
  message:
    "KSeF refuses the tokens of several taxpayers, for which the rules provide until 2026-12-31. Request a certificate of the type Authentication in KSeF, and store it."
} as const

/** The actions that are taken once within a login. The others are counted over logins, which may be in several leases. */
const onceActions: ReadonlySet<LoginStatuses.LoginAction> = new Set(["log-in-again", "refresh-keys"])

/** How a login is postponed or refused, by how it ended and what came before. */
export const decide = (
  action: LoginStatuses.LoginAction,
  earlier: { readonly sameAction: number },
  now: number
): "again" | "refuse" | { readonly until: number } => {
  switch (action) {
    case "log-in-again":
    case "refresh-keys":
      return earlier.sameAction === 0 ? "again" : "refuse"
    case "wait":
    case "poll":
    case "redeem":
      return { until: now + (processingWaits[earlier.sameAction] ?? processingWaits.at(-1)!) }
    case "refuse-after-waiting":
      return earlier.sameAction < activationTries ? { until: now + 60_000 } : "refuse"
    case "refuse":
      return "refuse"
  }
}

/** The logins of a lane. */
export interface Logins {
  /** Returns an access token that is valid for a while. */
  readonly accessToken: (organization: LaneOrganization) => Effect.Effect<Redacted.Redacted, LoginError>
  /** Has the next use of the token refresh it or log in, because KSeF did not accept it. */
  readonly rejectToken: (organization: LaneOrganization, token: Redacted.Redacted, remedy: "refresh" | "login") => void
}

/** What the logins of a lane work with. */
interface Options {
  readonly call: Call
  /** The call of logins with a credential that KSeF has not accepted. */
  readonly strangerCall: Call
  readonly client: KsefClient.KsefClient
  readonly credentials: GatewayCredentials["Service"]
  readonly keys: PublicKeyCache
  readonly tokens: TokenStore
  readonly tokenLogins: TokenLoginSunset
  readonly failedLogins: FailedLogins
}

interface State extends Options {
  readonly known: Map<string, Tokens>
  readonly rejected: Map<string, "refresh" | "login">
}

/** What a login calls. */
export type LoginClient = Pick<
  KsefClient.KsefClient,
  "challenge" | "loginStatus" | "loginWithToken" | "loginWithXades" | "redeem"
>

/** What one login is made with: `E` is the error of a call. */
export interface LoginCalls<E> {
  readonly client: LoginClient
  readonly call: <A>(operation: Operation.Operation, effect: Effect.Effect<A, KsefError>) => Effect.Effect<A, E>
  /** Reads the key for which KSeF takes tokens encrypted. */
  readonly tokenKey: Effect.Effect<PublicKeys.PublicKey, E>
}

type Login = Pick<StoredCredential, "context" | "credential">

const begin = Effect.fnUntraced(function* <E>(
  { call, client, tokenKey }: LoginCalls<E>,
  { context, credential }: Login
): Effect.fn.Return<typeof LoginAnswers.LoginStarted.Type, E | CredentialRefused> {
  const challenge = yield* call("challenge", client.challenge)
  if (credential.type === "ksef_token") {
    const publicKey = yield* tokenKey
    return yield* call(
      "loginWithToken",
      client.loginWithToken({ challenge, context, token: credential.token, publicKey })
    )
  }
  const now = yield* Clock.currentTimeMillis
  const { certificate, privateKey } = credential
  const pair = SigningCredential.read({ certificate, privateKey: Redacted.value(privateKey) }, now)
  if (Result.isFailure(pair)) {
    return yield* new CredentialRefused({ code: "certificate_refused", message: pair.failure.message })
  }
  // KSeF refuses a signature from its future: the time is that of its own clock.
  const login = { challenge: challenge.challenge, context, signingTime: challenge.timestampMs - 60_000 }
  return yield* call("loginWithXades", client.loginWithXades(LoginDocument.write(login, pair.success)))
})

/** Logs in once, and returns the tokens or how the login ended without them. */
export const logInOnce = Effect.fnUntraced(function* <E>(
  calls: LoginCalls<E>,
  login: Login
): Effect.fn.Return<LoginEnd, E | CredentialRefused> {
  const { call, client } = calls
  const started = yield* begin(calls, login)
  for (let poll = 0; poll < maxPolls; poll++) {
    yield* Effect.sleep(pollWaits[poll] ?? 2000)
    const { status } = yield* call("loginStatus", client.loginStatus(started))
    const row = LoginStatuses.loginStatus(status)
    if (row.action === "poll") continue
    if (row.action === "redeem") {
      const tokens = yield* call("redeem", client.redeem(started.authenticationToken.token))
      return { _tag: "tokens", tokens }
    }
    const message = withDetails(`KSeF refuses the login: ${row.meaning}.`, status.details)
    const refusal = { code: row.refusal ?? "credential_invalid", message }
    return { _tag: "ended", action: row.action, refusal, status: status.code }
  }
  const refusal = { code: "credential_invalid", message: "KSeF did not finish the login." } as const
  return { _tag: "ended", action: "wait", refusal }
})

// Anybody can store a credential of a taxpayer: one with which a login cannot even be made stops nobody else's.
const contained = <E>(login: Effect.Effect<LoginEnd, E>) =>
  Effect.catchDefect(login, (defect) =>
    Effect.gen(function* () {
      yield* Effect.logError("A login to KSeF could not be made", defect)
      const until = (yield* Clock.currentTimeMillis) + processingWaits.at(-1)!
      return yield* new LoginPostponed({ until, message: "A login to KSeF could not be made with the credential." })
    })
  )

// An error while logging in means as much as a status.
const attempt = (
  { client, keys, ...options }: Options,
  { credential_state: state }: LaneOrganization,
  credential: StoredCredential
) => {
  const isStranger = state !== "accepted"
  const call = isStranger ? options.strangerCall : options.call
  return Effect.catchTag(
    contained(logInOnce<CallFailed>({ client, call, tokenKey: keys.get("KsefTokenEncryption", call) }, credential)),
    "CallFailed",
    (error): Effect.Effect<LoginEnd, CallFailed | CredentialRefused | LoginPostponed> => {
      const { failure } = error
      if (failure._tag === "refused") {
        return Effect.fail(new CredentialRefused({ code: failure.code, message: failure.message }))
      }
      if (failure._tag !== "code") {
        // The credential waits, and not its taxpayer.
        if (!isStranger || failure._tag === "postponed" || failure._tag === "rate-limited") return Effect.fail(error)
        const refusal = { code: "credential_invalid", message: failure.message } as const
        return Effect.succeed<LoginEnd>({ _tag: "ended", action: "wait", refusal, failed: error })
      }
      const action = loginAction(failure.action)
      const refusal = { code: failure.refusal ?? "credential_invalid", message: failure.message } as const
      return Effect.succeed<LoginEnd>({ _tag: "ended", action, refusal })
    }
  )
}

// A token that was refused as all others has been accepted before.
const wasAccepted = ({ credential_state: state, refusal_code: code }: LaneOrganization): boolean =>
  state === "accepted" || code === tokenLoginsEnded.code

/** Counts a failed login, and returns how many before it failed in the same way. */
const countFailure = (
  { failedLogins }: Options,
  id: string,
  action: LoginStatuses.LoginAction,
  credential: number,
  now: number
): number => {
  const before = failedLogins.get(id, now)
  const sameAction = before?.action === action && before.credential === credential ? before.count : 0
  failedLogins.set(id, { credential, action, count: sameAction + 1 }, now)
  return sameAction
}

const logIn = Effect.fnUntraced(function* (
  options: Options,
  organization: LaneOrganization,
  credential: StoredCredential,
  repeated: ReadonlySet<LoginStatuses.LoginAction> = new Set()
): Effect.fn.Return<Tokens, LoginError> {
  const { failedLogins, keys, tokenLogins } = options
  const isToken = credential.credential.type === "ksef_token"
  const end: LoginEnd = yield* attempt(options, organization, credential)
  const now = yield* Clock.currentTimeMillis
  if (end._tag === "tokens") {
    failedLogins.delete(organization.id)
    if (isToken) tokenLogins.succeeded()
    yield* Metric.update(KsefMetrics.logins, 1)
    const { accessToken, refreshToken } = end.tokens
    return {
      credentialUpdatedAt: credential.updatedAt.getTime(),
      access: accessToken.token,
      accessUntil: accessToken.validUntil,
      earlyMs: earlyMs(accessToken.validUntil - now),
      refresh: refreshToken.token,
      refreshUntil: refreshToken.validUntil
    }
  }
  const sameAction = onceActions.has(end.action)
    ? Number(repeated.has(end.action))
    : countFailure(options, organization.id, end.action, credential.updatedAt.getTime(), now)
  const decision = decide(end.action, { sameAction }, now)
  if (decision === "refuse") {
    const isTokenRefused = isToken && end.status === tokenRefused
    // Anybody can store a token that is none.
    if (isTokenRefused && wasAccepted(organization)) tokenLogins.refused(organization.id, now)
    return yield* new CredentialRefused(isTokenRefused && tokenLogins.hasEnded ? tokenLoginsEnded : end.refusal)
  }
  if (decision !== "again") {
    const { failed, refusal } = end
    const until = Math.max(decision.until, failed?.until ?? 0)
    const { message } = refusal
    if (failed?.failure._tag !== "blocked") return yield* new LoginPostponed({ until, message })
    const blockedUntil = now + LaneRules.blockWait(sameAction + 1, failed.failure.isLasting)
    return yield* new LoginPostponed({ until: Math.max(until, blockedUntil), message, code: "gateway_blocked" })
  }
  if (end.action === "refresh-keys") keys.invalidate()
  return yield* logIn(options, organization, credential, new Set([...repeated, end.action]))
})

const recordRefusal = Effect.fnUntraced(function* (
  { credentials, tokenLogins }: Options,
  organization: LaneOrganization,
  error: CredentialRefused
) {
  if (error.code === undefined) return
  yield* Metric.update(KsefMetrics.refusals, 1)
  const message = "KSeF refused a credential"
  yield* Effect.annotateLogs(error.code === "context_blocked" ? Effect.logError(message) : Effect.logWarning(message), {
    organizationId: organization.id,
    code: error.code
  })
  if (error.code === "token_login_refused" && tokenLogins.shouldLog()) {
    yield* Effect.logError(
      "KSeF refuses logins by token, for which the rules provide until 2026-12-31. Organizations have to store a certificate of the type Authentication, which is requested in KSeF."
    )
  }
  const refusal = { code: error.code, message: error.message }
  yield* credentials.recordState(organization.id, organization.credential_updated_at, "refused", refusal)
})

const revoke = ({ call, client }: Options, { id }: LaneOrganization, tokens: Tokens) =>
  call("revoke", client.revoke(tokens.refresh)).pipe(
    Effect.catchTag("CallFailed", ({ failure }) =>
      Effect.annotateLogs(Effect.logWarning("KSeF login not revoked"), {
        organizationId: id,
        reason: failure.message
      })
    )
  )

// A login that ends after its credential was deleted or replaced is revoked, like those that were stored before.
const keep = Effect.fnUntraced(function* (state: State, organization: LaneOrganization, tokens: Tokens) {
  const { id } = organization
  if (yield* state.tokens.write(id, tokens)) return
  state.known.delete(id)
  yield* revoke(state, organization, tokens)
  const until = (yield* Clock.currentTimeMillis) + 1000
  return yield* new LoginPostponed({
    until,
    message: "The KSeF credential was deleted or replaced during the login."
  })
})

// A credential that was accepted before has its taxpayer claimed. Without the control cell, a new one waits.
const claim = Effect.fnUntraced(function* (
  state: State,
  organization: LaneOrganization,
  { context }: StoredCredential,
  tokens: Tokens
) {
  if (organization.credential_state === "accepted") return
  const now = yield* Clock.currentTimeMillis
  yield* state.credentials.claimTaxpayer(context.value).pipe(
    Effect.tapError(() => revoke(state, organization, tokens)),
    Effect.catchTags({
      ServedByOtherCell: (error) =>
        Effect.fail(
          new CredentialRefused({
            code: "credential_invalid",
            message: `The credential is not used: ${error.remedy(organization.id)}.`
          })
        ),
      ControlCellUnavailable: ({ message }) => Effect.fail(new LoginPostponed({ until: now + 60_000, message }))
    })
  )
})

const logInAnew = Effect.fnUntraced(function* (state: State, organization: LaneOrganization) {
  const { credentials } = state
  const read = yield* Effect.catchTag(credentials.read(organization.id), "KeyUnavailable", (error) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.fail(new LoginPostponed({ until: now + 60_000, message: error.message }))
    )
  )
  if (Option.isNone(read)) {
    return yield* new CredentialRefused({ code: undefined, message: "The organization has no KSeF credential." })
  }
  const tokens = yield* logIn(state, organization, read.value).pipe(
    Effect.tap((tokens) => claim(state, organization, read.value, tokens)),
    Effect.tapErrorTag("CredentialRefused", (error) => recordRefusal(state, organization, error))
  )
  yield* keep(state, organization, tokens)
  yield* credentials.recordState(organization.id, read.value.updatedAt, "accepted")
  return tokens
})

const refresh = (state: State, organization: LaneOrganization, tokens: Tokens) =>
  state.call("refresh", state.client.refresh(tokens.refresh)).pipe(
    Effect.flatMap(({ accessToken: { token, validUntil } }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const next = { ...tokens, access: token, accessUntil: validUntil, earlyMs: earlyMs(validUntil - now) }
        return Effect.as(keep(state, organization, next), next)
      })
    ),
    // A refresh token that is not accepted says nothing about the credential: a new login does.
    Effect.catchTag("CallFailed", (error) =>
      refusedRefresh.has(failureOf(error, "refresh")?._tag ?? "") ? logInAnew(state, organization) : Effect.fail(error)
    )
  )

/** Until when no login is made with a refused credential. The count of refusals is stored, so that a new holder waits as long. */
export const refusedUntil = (organization: LaneOrganization): number | undefined => {
  const { credential_checked_at: checkedAt, credential_refusals: refusals, refusal_code: code } = organization
  return checkedAt === null ? undefined : checkedAt.getTime() + LaneRules.refusalWait(refusals, code ?? undefined)
}

const obtain = Effect.fnUntraced(function* (state: State, organization: LaneOrganization) {
  const { credential_state: credentialState, id } = organization
  // A holder may have died between storing tokens and recording that their credential is accepted: a login records it.
  const stored = state.known.get(id) ?? (credentialState === "accepted" ? yield* state.tokens.read(id) : undefined)
  const now = yield* Clock.currentTimeMillis
  const isCurrent = stored?.credentialUpdatedAt === organization.credential_updated_at.getTime()
  const action = state.rejected.get(id)
  if (stored !== undefined && isCurrent && action !== "login" && now < stored.refreshUntil) {
    if (action === undefined && now < stored.accessUntil - stored.earlyMs) return stored
    return yield* refresh(state, organization, stored)
  }
  // However many verdicts and receipts wait for a refused credential, it is tried once.
  if (credentialState === "refused" && now < (refusedUntil(organization) ?? 0)) {
    return yield* new CredentialRefused({
      code: organization.refusal_code ?? "credential_invalid",
      message: credentialRefused.message
    })
  }
  return yield* logInAnew(state, organization)
})

/** Makes the logins of a lane. */
export const make = (options: Options): Logins => {
  const state: State = { ...options, known: new Map(), rejected: new Map() }
  const mutexes = new Map<string, Semaphore.Semaphore>()
  const mutexOf = (id: string) => {
    const mutex = mutexes.get(id) ?? Semaphore.makeUnsafe(1)
    mutexes.set(id, mutex)
    return mutex
  }
  return {
    // A login of an organization delays no call of another one.
    accessToken: (organization) =>
      mutexOf(organization.id).withPermits(1)(
        Effect.map(obtain(state, organization), (tokens) => {
          state.known.set(organization.id, tokens)
          state.rejected.delete(organization.id)
          return tokens.access
        })
      ),
    rejectToken: ({ id }, token, remedy) => {
      if (state.known.get(id)?.access === token) state.rejected.set(id, remedy)
    }
  }
}

const refusedRefresh: ReadonlySet<string> = new Set(["code", "not-readable", "refused", "unauthorized"])

const loginActions: ReadonlySet<string> = new Set<LoginStatuses.LoginAction>([
  "log-in-again",
  "refresh-keys",
  "wait",
  "refuse",
  "refuse-after-waiting"
])

const loginAction = (action: string): LoginStatuses.LoginAction =>
  loginActions.has(action) ? (action as LoginStatuses.LoginAction) : "wait"

interface TokenRow {
  readonly credential_updated_at: Date
  readonly access_valid_until: Date
  readonly refresh_valid_until: Date
  readonly access_token: Uint8Array
  readonly refresh_token: Uint8Array
}

/** Makes the function that makes the store of a lane: the `national_logins` table, where tokens are sealed. */
export const makeTokenStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyRing = yield* KeyRing
  const { fence } = yield* LaneQueue

  return (lane: Lane): TokenStore => ({
    read: Effect.fnUntraced(function* (id) {
      const [row] = yield* sql<TokenRow>`SELECT * FROM national_logins WHERE id = ${id}`
      if (row === undefined) return undefined
      try {
        return {
          credentialUpdatedAt: row.credential_updated_at.getTime(),
          access: Redacted.make(keyRing.open(row.access_token, { column: "national_logins.access_token", row: id })),
          accessUntil: row.access_valid_until.getTime(),
          // Its lifetime is not known.
          earlyMs: refreshEarlyMs,
          refresh: Redacted.make(keyRing.open(row.refresh_token, { column: "national_logins.refresh_token", row: id })),
          refreshUntil: row.refresh_valid_until.getTime()
        }
      } catch (error) {
        // A new login replaces what no key opens.
        if (error instanceof KeyUnavailable) return undefined
        throw error
      }
    }),

    write: Effect.fnUntraced(function* (id, tokens) {
      const access = keyRing.seal(Redacted.value(tokens.access), { column: "national_logins.access_token", row: id })
      const refresh = keyRing.seal(Redacted.value(tokens.refresh), { column: "national_logins.refresh_token", row: id })
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const markStored = lane.windows.beginStore()
      // A deletion that is under way ends first, and then there is nothing to store tokens for.
      const [row] = yield* sql<{ readonly isStored: boolean }>`
        WITH ${fence(lane, now)}, credential AS (
          SELECT id FROM organizations
          WHERE id = ${id} AND credential_updated_at = ${new Date(tokens.credentialUpdatedAt)}::timestamptz FOR SHARE
        ), stored AS (
          INSERT INTO national_logins
            (id, credential_updated_at, access_valid_until, refresh_valid_until, access_token, refresh_token)
          SELECT id, ${new Date(tokens.credentialUpdatedAt)}::timestamptz, ${new Date(tokens.accessUntil)}::timestamptz,
                 ${new Date(tokens.refreshUntil)}::timestamptz, ${access}::bytea, ${refresh}::bytea
          FROM lane, credential
          ON CONFLICT (id) DO UPDATE SET
            credential_updated_at = excluded.credential_updated_at,
            access_valid_until    = excluded.access_valid_until,
            refresh_valid_until   = excluded.refresh_valid_until,
            access_token          = excluded.access_token,
            refresh_token         = excluded.refresh_token
          RETURNING id
        )
        SELECT EXISTS (SELECT 1 FROM stored) AS "isStored" FROM lane
      `
      if (row === undefined) return yield* new LaneLost({ context: lane.context })
      markStored()
      return row.isStored
    })
  })
})
