/**
 * `/permissions/authorizations/grants`: what a taxpayer lets another one do for it. `SelfInvoicing` lets the buyer issue its invoices.
 */
import { authorized, type Handler } from "../http/Call.ts"
import { badRequest, json } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"

interface GrantBody {
  readonly subjectIdentifier: { readonly value: string }
  readonly permission: string
}

// It is in force at once.
const grant = authorized(({ body, login, now, simulation: { state } }) => {
  const { permission, subjectIdentifier } = body as GrantBody
  const reference = state.serials.reference("permission", now)
  state.authorizations.set(reference, { grantor: login.context, subject: subjectIdentifier.value, permission })
  return json(202, { referenceNumber: reference })
})

const operation = authorized(({ login, path, simulation }) => {
  const reference = path["referenceNumber"]!
  if (simulation.state.authorizations.get(reference)?.grantor !== login.context) {
    throw badRequest(21405, `Operacja o numerze referencyjnym ${reference} nie została znaleziona.`)
  }
  return json(200, { status: { code: 200, description: "Operacja zakończona sukcesem" } })
})

/** The handlers of authorizations. */
export const authorizationHandlers = {
  grantAuthorization: grant,
  getPermissionsOperation: operation
} as const satisfies Partial<Record<OperationName, Handler>>
