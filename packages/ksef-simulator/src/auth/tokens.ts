/**
 * KSeF tokens: making them, finding them, and their status.
 */
import { ContextIdentifier } from "@govoice/ksef/format"
import type { Simulation } from "../Simulation.ts"
import { type KsefToken, type Permission, permissions, type Subject } from "../state/records.ts"

/** The properties of a new token. */
export interface TokenRequest {
  /** The value of the context that it gives access to: a NIP, or an internal identifier. */
  readonly context: string
  /** Defaults to all. */
  readonly permissions?: ReadonlyArray<Permission>
  /** The author. Defaults to the taxpayer of the context. */
  readonly author?: Subject
  readonly description?: string
  /** From when it can be used, in milliseconds since the epoch. Defaults to now. */
  readonly activeAt?: number
  /** The token itself, in place of a new one. */
  readonly secret?: string
}

// Tokens are of these types of contexts alone.
const markOf = (context: string) => (ContextIdentifier.ofValue(context).type === "Nip" ? "nip" : "internalId")

/** Makes a token. */
export const createToken = ({ clock, ledger, state }: Simulation, request: TokenRequest): KsefToken => {
  const now = clock.now()
  const given = request.secret?.split("|")[0]
  const reference =
    given !== undefined && /^\d{8}-EC-[0-9A-F]{10}-[0-9A-F]{10}-[0-9A-F]{2}$/.test(given)
      ? given
      : state.serials.reference("token", now)
  const token: KsefToken = {
    reference,
    secret:
      request.secret ??
      `${reference}|${markOf(request.context)}-${request.context}|${state.serials.digits("secret", 64)}`,
    context: request.context,
    author: request.author ?? { type: "Nip", value: ContextIdentifier.nip(request.context) },
    permissions: request.permissions ?? permissions,
    description: request.description ?? "KSeF simulator",
    createdAt: now,
    activeAt: request.activeAt ?? now,
    lastUsedAt: null,
    revoked: false
  }
  ledger.secret(token.secret)
  return state.tokens.set(reference, token)
}

/** Finds a token by what its owner holds. */
export const findToken = ({ state }: Simulation, secret: string): KsefToken | undefined => {
  const byReference = state.tokens.get(secret.split("|")[0]!)
  if (byReference?.secret === secret) return byReference
  return Array.from(state.tokens.values()).find((token) => token.secret === secret)
}

/** The status of a token under the names of the API. */
export const tokenStatus = (
  { clock }: Simulation,
  { activeAt, revoked }: KsefToken
): "Pending" | "Active" | "Revoked" => (revoked ? "Revoked" : clock.now() < activeAt ? "Pending" : "Active")
