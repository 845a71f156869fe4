/**
 * `/permissions/authorizations/grants`: what a taxpayer lets another one do for it. `SelfInvoicing` lets the buyer issue its invoices.
 */
import { authorized, type Handler } from "../http/Call.ts"
import { listPage } from "../http/pages.ts"
import { badRequest, json, type Reply } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Authorization } from "../state/State.ts"
import { timestamp } from "../time/timestamps.ts"

interface GrantBody {
  readonly subjectIdentifier: { readonly value: string }
  readonly permission: string
  readonly description: string
  readonly subjectDetails: { readonly fullName: string }
}

// An operation is over at once.
const operationOf = ({ state }: Simulation, grantor: string, code: number, now: number): Reply => {
  const reference = state.serials.reference("permission", now)
  state.permissionsOperations.set(reference, { grantor, code })
  return json(202, { referenceNumber: reference })
}

const grant = authorized(({ body, login, now, simulation }) => {
  const { description, permission, subjectDetails, subjectIdentifier } = body as GrantBody
  const { authorizations, serials } = simulation.state
  const id = serials.digits("authorization", 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
  authorizations.set(id, {
    id,
    author: login.subject,
    grantor: login.context,
    subject: subjectIdentifier.value,
    permission,
    description,
    fullName: subjectDetails.fullName,
    startedAt: now
  })
  return operationOf(simulation, login.context, 200, now)
})

const revoke = authorized(({ login, now, path, simulation }) => {
  const { authorizations } = simulation.state
  const id = path["permissionId"]!
  const isOwn = authorizations.get(id)?.grantor === login.context
  if (isOwn) authorizations.delete(id)
  return operationOf(simulation, login.context, isOwn ? 200 : 400, now)
})

interface QueryBody {
  readonly queryType: "Granted" | "Received"
  readonly authorizingIdentifier?: { readonly value: string } | null
  readonly authorizedIdentifier?: { readonly value: string } | null
  readonly permissionTypes?: ReadonlyArray<string> | null
}

const describe = (one: Authorization): object => ({
  id: one.id,
  authorIdentifier: one.author,
  authorizedEntityIdentifier: { type: "Nip", value: one.subject },
  authorizingEntityIdentifier: { type: "Nip", value: one.grantor },
  authorizationScope: one.permission,
  description: one.description,
  subjectEntityDetails: { subjectDetailsType: "EntityByIdentifier", fullName: one.fullName },
  startDate: timestamp(one.startedAt)
})

const list = authorized(({ body, login, query, simulation }) => {
  const { authorizedIdentifier, authorizingIdentifier, permissionTypes, queryType } = body as QueryBody
  const types = permissionTypes ?? []
  const wanted = Array.from(simulation.state.authorizations.values())
    .filter(
      ({ grantor, permission, subject }) =>
        (queryType === "Granted" ? grantor : subject) === login.context &&
        (authorizingIdentifier == null || authorizingIdentifier.value === grantor) &&
        (authorizedIdentifier == null || authorizedIdentifier.value === subject) &&
        (types.length === 0 || types.includes(permission))
    )
    .sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? -1 : 1))
  const { hasMore, items } = listPage(wanted, query)
  return json(200, { authorizationGrants: items.map(describe), hasMore })
})

const descriptions: Readonly<Record<number, string>> = {
  200: "Operacja zakończona sukcesem",
  400: "Operacja zakończona niepowodzeniem"
}

const operation = authorized(({ login, path, simulation }) => {
  const reference = path["referenceNumber"]!
  const found = simulation.state.permissionsOperations.get(reference)
  if (found?.grantor !== login.context) {
    throw badRequest(21405, `Operacja o numerze referencyjnym ${reference} nie została znaleziona.`)
  }
  return json(200, { status: { code: found.code, description: descriptions[found.code] } })
})

/** The handlers of authorizations. */
export const authorizationHandlers = {
  grantAuthorization: grant,
  revokeAuthorization: revoke,
  queryAuthorizations: list,
  getPermissionsOperation: operation
} as const satisfies Partial<Record<OperationName, Handler>>
