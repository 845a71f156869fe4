/**
 * How an operation of authentication begins, and how its outcome shows.
 */
import { lifetimes } from "../lifetimes.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login, Permission, Status, Subject } from "../state/records.ts"
import { permissions } from "../state/records.ts"
import { details, loginStatuses, statusInfo } from "../statuses.ts"
import { timestamp } from "../time/timestamps.ts"

/** The result of an attempt to log in, before any other decision. */
export interface Attempt {
  readonly contextType: string
  readonly context: string
  readonly method: Login["method"]
  readonly subject: Subject
  readonly permissions: ReadonlyArray<Permission>
  readonly tokenReference: string | null
  readonly documentHash: string | null
  readonly certificate: string | null
  readonly addresses: Login["addresses"]
  readonly status: Status
}

/** The names of the methods in the JSON API and in the claims of JWTs. */
const methods = {
  token: {
    authenticationMethod: "Token",
    info: { category: "Token", code: "token.ksef", displayName: "Token KSeF" }
  },
  certificate: {
    authenticationMethod: "InternalCertificate",
    info: { category: "XadesSignature", code: "xades.internal-certificate", displayName: "Certyfikat KSeF" }
  }
} as const

/** Records an attempt and returns the answer that begins it. */
export const begin = (simulation: Simulation, attempt: Attempt) => {
  const { clock, faults, jwt, ledger, options, state } = simulation
  const now = clock.now()
  const isContextBlocked = state.context(attempt.context).blocked
  const fault = faults.take({ point: "login", context: attempt.context })?.fault
  const login: Login = {
    ...attempt,
    reference: state.serials.reference("authentication", now),
    startedAt: now,
    decidedAt: now + clock.scaled(options.processingMs),
    status:
      fault?.do === "verdict"
        ? { code: fault.code, ...(fault.details === undefined ? {} : { details: fault.details }) }
        : isContextBlocked
          ? { code: 480, details: [details.blocked] }
          : attempt.status,
    redeemed: false,
    refreshedAt: null,
    refreshValidUntil: null,
    revoked: false,
    accessFrom: 0
  }
  state.logins.set(login.reference, login)
  const { token, validUntil } = jwt.sign(
    "AuthenticationToken",
    login.reference,
    clock.scaled(lifetimes.authenticationToken),
    {}
  )
  return {
    referenceNumber: login.reference,
    authenticationToken: { token: ledger.secret(token), validUntil: timestamp(validUntil) }
  }
}

/** The status of a login at this time. */
export const statusOf = ({ clock }: Simulation, { decidedAt, revoked, status }: Login): Status => {
  if (clock.now() < decidedAt) return { code: 100 }
  if (revoked && status.code === 200) return { code: 425, details: [details.revokedByUser] }
  return status
}

/** A login as `GET /auth/{referenceNumber}` answers it. */
export const describe = (simulation: Simulation, login: Login) => ({
  startDate: timestamp(login.startedAt),
  authenticationMethod: methods[login.method].authenticationMethod,
  authenticationMethodInfo: methods[login.method].info,
  status: statusInfo(loginStatuses, statusOf(simulation, login)),
  ...(login.redeemed
    ? {
        isTokenRedeemed: true,
        lastTokenRefreshDate: login.refreshedAt === null ? null : timestamp(login.refreshedAt),
        refreshTokenValidUntil: login.refreshValidUntil === null ? null : timestamp(login.refreshValidUntil)
      }
    : { isTokenRedeemed: false })
})

/** Signs an access token of a login. */
export const accessToken = ({ clock, jwt, ledger }: Simulation, login: Login) => {
  const { token, validUntil } = jwt.sign("ContextToken", login.reference, clock.scaled(lifetimes.accessToken), {
    cit: login.contextType,
    civ: login.context,
    aum: methods[login.method].authenticationMethod,
    sud: JSON.stringify({ subjectIdentifier: login.subject }),
    per: login.permissions
  })
  return { token: ledger.secret(token), validUntil: timestamp(validUntil) }
}

/** Signs a refresh token of a login. */
export const refreshToken = ({ clock, jwt, ledger }: Simulation, login: Login) => {
  const { token, validUntil } = jwt.sign("RefreshToken", login.reference, clock.scaled(lifetimes.refreshToken), {
    cit: login.contextType,
    civ: login.context
  })
  return { token: ledger.secret(token), validUntil: timestamp(validUntil), validUntilMs: validUntil }
}

/** The permissions that a subject has in a context, other than by a token: all of its own, or what was granted. */
export const permissionsOf = ({ state }: Simulation, context: string, subject: Subject): ReadonlyArray<Permission> =>
  subject.type === "Nip" && subject.value === context
    ? permissions
    : (state.grants.get(grantKey(context, subject))?.permissions ?? [])

/** Grants permissions to somebody in a context, in place of earlier ones. */
export const grant = (
  { state }: Simulation,
  context: string,
  subject: Subject,
  granted: ReadonlyArray<Permission>
): void => {
  state.grants.set(grantKey(context, subject), { context, subject, permissions: granted })
}

/** The key of what was granted to somebody in a context. */
export const grantKey = (context: string, { type, value }: Subject): string => `${context} ${type} ${value}`
