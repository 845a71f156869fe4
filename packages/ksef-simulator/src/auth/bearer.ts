/**
 * Finds the login behind the bearer token of a request.
 */
import { badRequest, forbidden, Refusal, unauthorized } from "../http/Reply.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Simulation } from "../Simulation.ts"
import type { Login } from "../state/records.ts"
import { allows } from "./addresses.ts"
import type { TokenType } from "./Jwt.ts"

const types: Readonly<Partial<Record<OperationName, ReadonlyArray<TokenType>>>> = {
  getLogin: ["AuthenticationToken"],
  redeemTokens: ["AuthenticationToken"],
  refreshToken: ["RefreshToken"],
  revokeCurrentLogin: ["RefreshToken", "ContextToken"]
}

const invalid = "Token jest nieprawidłowy lub wygasł."

const accessToken: ReadonlyArray<TokenType> = ["ContextToken"]

/**
 * Returns the login behind a header `Authorization`.
 *
 * @throws {Refusal} 401 without a valid token, 403 with one of another type or from an address that is not allowed, 400
 * with a refresh token that has expired.
 */
export const authenticate = (
  { clock, jwt, state }: Simulation,
  name: OperationName,
  authorization: string | undefined,
  address: string
): Login => {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1]
  if (token === undefined) throw unauthorized("Brak tokena w nagłówku Authorization.")
  const claims = jwt.verify(token)
  const login = claims && state.logins.get(claims.login)
  if (claims === undefined || login === undefined) throw unauthorized(invalid)
  if (!(types[name] ?? accessToken).includes(claims.type)) {
    throw new Refusal({ status: 403, reason: "wrong-token-type" })
  }
  if (clock.now() >= claims.validUntil) {
    if (claims.type !== "RefreshToken") throw unauthorized(invalid)
    throw badRequest(21301, "Status uwierzytelniania nie pozwala na odświeżenie tokenu dostępowego.")
  }
  if (claims.type === "ContextToken") {
    if (claims.issuedAt < login.accessFrom) throw unauthorized(invalid)
    if (!allows(login.addresses, address)) {
      throw forbidden("ip-not-allowed", "Żądanie pochodzi z adresu IP innego niż wskazany podczas uwierzytelnienia.", {
        clientIp: address
      })
    }
  }
  return login
}

/** Refuses a login that has none of the permissions that an operation asks for. */
export const requirePermission = (login: Login, required: ReadonlyArray<string> | undefined): void => {
  if (required === undefined || login.permissions.some((permission) => required.includes(permission))) return
  throw forbidden("missing-permissions", "Brak wymaganych uprawnień do wykonania operacji w bieżącym kontekście.", {
    requiredAnyOfPermissions: required,
    presentPermissions: login.permissions
  })
}

/** Whether a login acts as the owner of its context. */
export const isOwner = ({ context, subject }: Login): boolean => subject.type === "Nip" && subject.value === context

/** Whether two records belong to the same person. */
export const isSameSubject = (left: Login["subject"], right: Login["subject"]): boolean =>
  left.type === right.type && left.value === right.value
