/**
 * The tokens of a login: JWTs with HMAC-SHA-256 under a key that stays with the simulator.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Clock } from "../time/Clock.ts"

/** The purpose of a token. The names are those of KSeF's claim `typ`. */
export type TokenType = "AuthenticationToken" | "ContextToken" | "RefreshToken"

/** The claims that are read of a token. Times are in milliseconds. */
export interface TokenClaims {
  readonly type: TokenType
  readonly login: string
  readonly issuedAt: number
  readonly validUntil: number
}

const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url")

/** Signs and verifies tokens. */
export class Jwt {
  readonly #key: string
  readonly #clock: Clock

  constructor(key: string, clock: Clock) {
    this.#key = key
    this.#clock = clock
  }

  /** Signs a token that lives so long from now, in milliseconds of the simulator. */
  sign(
    type: TokenType,
    login: string,
    lifetimeMs: number,
    claims: Readonly<Record<string, unknown>>
  ): { readonly token: string; readonly validUntil: number } {
    const issuedAt = this.#clock.now()
    const validUntil = issuedAt + lifetimeMs
    const payload = Buffer.from(
      JSON.stringify({
        typ: type,
        arn: login,
        ...claims,
        iat: Math.floor(issuedAt / 1000),
        exp: Math.floor(validUntil / 1000),
        iss: "ksef-simulator",
        aud: "ksef-simulator",
        // Seconds are too coarse where lifetimes are shrunk.
        ims: issuedAt,
        ems: validUntil
      })
    ).toString("base64url")
    return { token: `${header}.${payload}.${this.#mac(payload)}`, validUntil }
  }

  /** Reads a token that was signed here, or returns `undefined`. It may have expired. */
  verify(token: string): TokenClaims | undefined {
    const [first, payload, mac, ...rest] = token.split(".")
    if (first !== header || payload === undefined || mac === undefined || rest.length > 0) return undefined
    const expected = Buffer.from(this.#mac(payload))
    const given = Buffer.from(mac)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    const { arn, ems, ims, typ } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as {
      readonly typ: TokenType
      readonly arn: string
      readonly ims: number
      readonly ems: number
    }
    return { type: typ, login: arn, issuedAt: ims, validUntil: ems }
  }

  #mac(payload: string): string {
    return createHmac("sha256", this.#key).update(`${header}.${payload}`).digest("base64url")
  }
}
