/**
 * `/limits`, `/rate-limits`, and the part of `/testdata` that changes what holds for a context.
 */
import { certificateLimitsOf } from "../auth/enrollments.ts"
import { grant, grantKey } from "../auth/logins.ts"
import { authorized, type Handler } from "../http/Call.ts"
import { empty, json, type Reply } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Limit, Overrides } from "../openapi/rateLimits.ts"
import type { Permission, Subject } from "../state/records.ts"
import type { ContextSettings, SessionLimits } from "../state/State.ts"
import { isGroup } from "./Limits.ts"

const done = (): Reply => empty(200)

const getContextLimits = authorized(({ login, simulation }) =>
  json(200, { ...simulation.limits.ofSessions(login.context), collectiveIdentifier: { maxInvoices: 1000 } })
)

const getSubjectLimits = authorized(({ login }) => {
  const { certificates, enrollments } = certificateLimitsOf(login.subject)
  return json(200, { enrollment: { maxEnrollments: enrollments }, certificate: { maxCertificates: certificates } })
})

const getRateLimits = authorized(({ login, simulation }) => json(200, simulation.limits.of(login.context)))

const setSessionLimits = authorized(({ body, login, simulation }) => {
  simulation.state.changeContext(login.context, { sessionLimits: body as SessionLimits })
  return done()
})

const resetSessionLimits = authorized(({ login, simulation }) => {
  simulation.state.changeContext(login.context, { sessionLimits: null })
  return done()
})

const setRateLimits = authorized(({ body, login, simulation }) => {
  const { rateLimits } = body as { readonly rateLimits: Readonly<Record<string, Limit>> }
  const overrides: Overrides = Object.fromEntries(Object.entries(rateLimits).filter(([group]) => isGroup(group)))
  simulation.state.changeContext(login.context, { rateLimits: overrides })
  return done()
})

// The limits of the test environment are those of production from the start.
const resetRateLimits = authorized(({ login, simulation }) => {
  simulation.state.changeContext(login.context, { rateLimits: null })
  return done()
})

interface ContextBody {
  readonly contextIdentifier?: { readonly type: string; readonly value: string } | null
}

const changeContext =
  (change: Partial<ContextSettings>): Handler =>
  ({ body, simulation }) => {
    const { contextIdentifier } = body as ContextBody
    if (contextIdentifier != null) simulation.state.changeContext(contextIdentifier.value, change)
    return done()
  }

const changeAttachments =
  (attachments: boolean): Handler =>
  ({ body, simulation }) => {
    simulation.state.changeContext((body as { readonly nip: string }).nip, { attachments })
    return done()
  }

interface GrantBody {
  readonly contextIdentifier: { readonly value: string }
  readonly authorizedIdentifier: Subject
  readonly permissions: ReadonlyArray<{ readonly permissionType: Permission }>
}

const grantPermissions: Handler = ({ body, simulation }) => {
  const { authorizedIdentifier: subject, contextIdentifier, permissions } = body as GrantBody
  grant(
    simulation,
    contextIdentifier.value,
    subject,
    permissions.map(({ permissionType }) => permissionType)
  )
  return done()
}

const revokePermissions: Handler = ({ body, simulation }) => {
  const { authorizedIdentifier, contextIdentifier } = body as GrantBody
  simulation.state.grants.delete(grantKey(contextIdentifier.value, authorizedIdentifier))
  return done()
}

/** The handlers of limits and test data. */
export const limitHandlers = {
  getContextLimits,
  getSubjectLimits,
  getRateLimits,
  setSessionLimits,
  resetSessionLimits,
  setRateLimits,
  resetRateLimits,
  setProductionRateLimits: resetRateLimits,
  blockContext: changeContext({ blocked: true }),
  unblockContext: changeContext({ blocked: false }),
  allowAttachments: changeAttachments(true),
  forbidAttachments: changeAttachments(false),
  grantPermissions,
  revokePermissions
} as const satisfies Partial<Record<OperationName, Handler>>
