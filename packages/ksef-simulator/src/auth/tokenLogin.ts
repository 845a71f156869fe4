/**
 * `POST /auth/ksef-token`: the token, encrypted together with the time of the challenge.
 */
import { ContextIdentifier } from "@govoice/ksef/format"
import { badRequest, json } from "../http/Reply.ts"
import type { Handler } from "../http/Call.ts"
import type { Simulation } from "../Simulation.ts"
import type { KsefToken, Status } from "../state/records.ts"
import { details } from "../statuses.ts"
import { addressPolicy, type AllowedIps } from "./addresses.ts"
import { begin } from "./logins.ts"
import { findToken, tokenStatus } from "./tokens.ts"

interface Body {
  readonly challenge: string
  readonly contextIdentifier: { readonly type: string; readonly value: string }
  readonly encryptedToken: string
  readonly publicKeyId?: string | null
  readonly authorizationPolicy?: { readonly allowedIps?: AllowedIps | null } | null
}

interface Judged {
  readonly status: Status
  readonly token?: KsefToken
}

const refused = (detail: string): Judged => ({ status: { code: 450, details: [detail] } })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decoded = (bytes: Buffer): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const judge = (simulation: Simulation, body: Body, plain: Buffer | undefined, timestampMs: number): Judged => {
  if (plain === undefined) return refused(details.wrongEncryption)
  const text = decoded(plain)
  // The token itself contains the separator.
  const end = text?.lastIndexOf("|") ?? -1
  if (text === undefined || end === -1) return refused(details.wrongEncoding)
  if (text.slice(end + 1) !== String(timestampMs)) return refused(details.wrongTime)
  const token = findToken(simulation, text.slice(0, end))
  if (token === undefined) return refused(details.wrongToken)
  const status = tokenStatus(simulation, token)
  if (status === "Revoked") return refused(details.tokenRevoked)
  if (status === "Pending") return refused(details.tokenInactive)
  const { type, value } = body.contextIdentifier
  if (type !== ContextIdentifier.ofValue(token.context).type || value !== token.context)
    return refused(`Token nie może być użyty w kontekście ${value}`)
  if (token.permissions.length === 0) return { status: { code: 415, details: [details.noPermissions] }, token }
  return { status: { code: 200 }, token }
}

/** Begins a login with a token. The status of the login tells the faults of the token. */
export const loginWithToken: Handler = ({ body: given, simulation }) => {
  const { challenges, clock, keys, state } = simulation
  const body = given as Body
  const challenge = challenges.take(body.challenge)
  if (challenge === undefined) throw badRequest(21111)
  const decrypt = keys.choose("KsefTokenEncryption", body.publicKeyId)
  if (decrypt === undefined) throw badRequest(21470, `Klucz o identyfikatorze ${body.publicKeyId} nie jest wspierany.`)
  const plain = decrypt(Buffer.from(body.encryptedToken, "base64"))
  const { status, token } = judge(simulation, body, plain, challenge.timestampMs)
  if (token !== undefined) state.tokens.update(token.reference, { lastUsedAt: clock.now() })
  const answer = begin(simulation, {
    contextType: body.contextIdentifier.type,
    context: body.contextIdentifier.value,
    method: "token",
    subject: token?.author ?? { type: "Nip", value: ContextIdentifier.nip(body.contextIdentifier.value) },
    permissions: token?.permissions ?? [],
    tokenReference: token?.reference ?? null,
    documentHash: null,
    certificate: null,
    addresses: addressPolicy(body.authorizationPolicy?.allowedIps),
    status
  })
  return json(202, answer)
}
