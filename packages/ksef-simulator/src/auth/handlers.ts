/**
 * The operations of logins beside their two beginnings: keys, challenges, status, tokens, revocation.
 */
import { authorized, type Handler } from "../http/Call.ts"
import { page } from "../http/pages.ts"
import { badRequest, empty, json, type Refusal } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login } from "../state/records.ts"
import { timestamp } from "../time/timestamps.ts"
import { loginWithCertificate } from "./certificateLogin.ts"
import { accessToken, describe, refreshToken, statusOf } from "./logins.ts"
import { loginWithToken } from "./tokenLogin.ts"

const listPublicKeys: Handler = ({ simulation }) =>
  json(
    200,
    simulation.keys.listed().map(({ certificate, certificateId, id, usage, validFrom, validTo }) => ({
      certificate,
      certificateId,
      publicKeyId: id,
      validFrom: timestamp(validFrom),
      validTo: timestamp(validTo),
      usage: [usage]
    }))
  )

const createChallenge: Handler = ({ address, simulation }) => {
  const { digits, timestampMs, value } = simulation.challenges.create()
  return json(200, {
    challenge: value,
    timestamp: timestamp(timestampMs, digits),
    timestampMs,
    clientIp: address
  })
}

const unknownLogin = (reference: string): Refusal =>
  badRequest(21304, `Operacja uwierzytelniania o numerze referencyjnym ${reference} nie została znaleziona.`)

// The token for this operation dies long before the operation does, so that no caller meets its 410.
const getLogin = authorized(({ login, path, simulation }) => {
  const reference = path["referenceNumber"]!
  if (reference !== login.reference) throw unknownLogin(reference)
  return json(200, describe(simulation, login))
})

const refuseRevokedToken = ({ state }: Simulation, { tokenReference }: Login): void => {
  if (tokenReference !== null && state.tokens.get(tokenReference)?.revoked === true) {
    throw badRequest(21301, "Token KSeF został unieważniony.")
  }
}

const redeemTokens = authorized(({ login, simulation }) => {
  const status = statusOf(simulation, login).code
  if (login.redeemed) {
    throw badRequest(21301, `Tokeny dla operacji uwierzytelniania ${login.reference} zostały już pobrane.`)
  }
  if (status !== 200) {
    throw badRequest(21301, `Status uwierzytelniania (${status}) nie pozwala na pobranie tokenów.`)
  }
  refuseRevokedToken(simulation, login)
  const { validUntilMs, ...refresh } = refreshToken(simulation, login)
  simulation.state.logins.update(login.reference, { redeemed: true, refreshValidUntil: validUntilMs })
  return json(200, { accessToken: accessToken(simulation, login), refreshToken: refresh })
})

const refresh = authorized(({ login, now, simulation }) => {
  const status = statusOf(simulation, login).code
  if (status !== 200) {
    throw badRequest(21301, `Status uwierzytelniania (${status}) nie pozwala na odświeżenie tokenu dostępowego.`)
  }
  refuseRevokedToken(simulation, login)
  simulation.state.logins.update(login.reference, { refreshedAt: now })
  return json(200, { accessToken: accessToken(simulation, login) })
})

const listLogins = authorized(({ headers, login, now, query, simulation }) => {
  const active = Array.from(simulation.state.logins.values())
    .filter(
      (other) =>
        other.contextType === login.contextType &&
        other.context === login.context &&
        other.redeemed &&
        !other.revoked &&
        (other.refreshValidUntil ?? 0) > now
    )
    .sort((left, right) => right.startedAt - left.startedAt)
  const { continuationToken, items } = page(active, Number(query["pageSize"]), headers)
  return json(200, {
    ...(continuationToken === undefined ? {} : { continuationToken }),
    items: items.map((other) => ({
      referenceNumber: other.reference,
      isCurrent: other.reference === login.reference,
      ...describe(simulation, other)
    }))
  })
})

const revokeCurrentLogin = authorized(({ login, simulation }) => {
  simulation.state.logins.update(login.reference, { revoked: true })
  return empty(204)
})

const revokeLogin = authorized(({ login, path, simulation }) => {
  const other = simulation.state.logins.get(path["referenceNumber"]!)
  if (other === undefined || other.context !== login.context) {
    throw badRequest(21405, `Nie znaleziono sesji o numerze referencyjnym ${path["referenceNumber"]}.`)
  }
  simulation.state.logins.update(other.reference, { revoked: true })
  return empty(204)
})

/** The handlers of logins. */
export const authHandlers = {
  listPublicKeys,
  createChallenge,
  loginWithToken,
  loginWithCertificate,
  getLogin,
  redeemTokens,
  refreshToken: refresh,
  listLogins,
  revokeCurrentLogin,
  revokeLogin
} as const satisfies Partial<Record<OperationName, Handler>>
