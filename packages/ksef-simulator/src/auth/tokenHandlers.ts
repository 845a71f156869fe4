/**
 * `/tokens`: a context's own KSeF tokens.
 */
import { ContextIdentifier } from "@govoice/ksef/format"
import { type AuthorizedCall, authorized, type Handler } from "../http/Call.ts"
import { page } from "../http/pages.ts"
import { badRequest, empty, forbidden, json } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { KsefToken, Login, Permission } from "../state/records.ts"
import { timestamp } from "../time/timestamps.ts"
import { isSameSubject } from "./bearer.ts"
import { createToken, tokenStatus } from "./tokens.ts"

const create = authorized(({ body, login, now, simulation }) => {
  const { description, permissions } = body as {
    readonly description: string
    readonly permissions: ReadonlyArray<Permission>
  }
  // Tokens cannot create tokens.
  if (login.method === "token") {
    throw forbidden("auth-method-not-allowed", "Ta operacja nie jest dostępna dla użytej metody uwierzytelnienia.", {
      authenticationMethodCategory: "Token"
    })
  }
  if (login.contextType !== "Nip" && login.contextType !== "InternalId") {
    throw badRequest(26002, `Bieżący kontekst: ${login.contextType}. Dozwolone: Nip, InternalId.`)
  }
  const missing = permissions.filter((permission) => !login.permissions.includes(permission))
  if (missing.length > 0) throw badRequest(26001, `Brakujące uprawnienia: ${missing.join(", ")}.`)
  const token = createToken(simulation, {
    context: login.context,
    permissions,
    description,
    author: login.subject,
    activeAt: now + simulation.clock.scaled(simulation.options.processingMs)
  })
  return json(202, { referenceNumber: token.reference, token: token.secret })
})

const seesAll = ({ permissions }: Login): boolean =>
  permissions.includes("CredentialsRead") || permissions.includes("CredentialsManage")

const isOwn = (login: Login, token: KsefToken): boolean =>
  login.method === "token" ? token.reference === login.tokenReference : isSameSubject(token.author, login.subject)

const describe = (simulation: Simulation, token: KsefToken): object => ({
  referenceNumber: token.reference,
  authorIdentifier: token.author,
  contextIdentifier: ContextIdentifier.ofValue(token.context),
  description: token.description,
  requestedPermissions: token.permissions,
  dateCreated: timestamp(token.createdAt),
  lastUseDate: token.lastUsedAt === null ? null : timestamp(token.lastUsedAt),
  status: tokenStatus(simulation, token),
  statusDetails: []
})

const contains = (text: string, part: unknown): boolean =>
  typeof part !== "string" || text.toLowerCase().includes(part.toLowerCase())

const list = authorized(({ headers, login, query, simulation }) => {
  const statuses = query["status"] as ReadonlyArray<string> | undefined
  const wanted = Array.from(simulation.state.tokens.values())
    .filter(
      (token) =>
        token.context === login.context &&
        (seesAll(login) || isOwn(login, token)) &&
        (statuses === undefined || statuses.length === 0 || statuses.includes(tokenStatus(simulation, token))) &&
        contains(token.description, query["description"]) &&
        contains(token.author.value, query["authorIdentifier"]) &&
        (query["authorIdentifierType"] === undefined || query["authorIdentifierType"] === token.author.type)
    )
    .sort((left, right) => right.createdAt - left.createdAt)
  const { continuationToken, items } = page(wanted, Number(query["pageSize"]), headers)
  return json(200, {
    ...(continuationToken === undefined ? {} : { continuationToken }),
    tokens: items.map((token) => describe(simulation, token))
  })
})

const find = ({ login, path, simulation }: AuthorizedCall, isAllowed: boolean): KsefToken => {
  const reference = path["referenceNumber"]!
  const token = simulation.state.tokens.get(reference)
  if (token === undefined || token.context !== login.context || !(isAllowed || isOwn(login, token))) {
    throw badRequest(21405, `Token o numerze referencyjnym ${reference} nie został znaleziony.`)
  }
  return token
}

const get = authorized((call) => json(200, describe(call.simulation, find(call, seesAll(call.login)))))

const revoke = authorized((call) => {
  const { reference } = find(call, call.login.permissions.includes("CredentialsManage"))
  call.simulation.state.tokens.update(reference, { revoked: true })
  return empty(204)
})

/** The handlers of tokens. */
export const tokenHandlers = {
  createToken: create,
  listTokens: list,
  getToken: get,
  revokeToken: revoke
} as const satisfies Partial<Record<OperationName, Handler>>
