/** Random texts that mean nothing by themselves: signing secrets, refresh tokens, and what is random in API keys. */
import { createHash, randomBytes, randomInt } from "node:crypto"

/** The symbols of base62. */
export const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Makes a text of random letters and digits. Each is six bits, less 0.05. */
export const randomText = (length: number): string =>
  Array.from({ length }, () => alphanumeric.charAt(randomInt(alphanumeric.length))).join("")

/**
 * Makes the signing secret of a webhook endpoint: `whsec_` and 44 letters and digits, 262 random bits. The whole string,
 * prefix included, is the HMAC key of `Gov-Signature`. The characters after the prefix are also whole base64 of 33 bytes, the
 * key of Standard Webhooks.
 */
export const signingSecret = (): string => `whsec_${randomText(44)}`

/** Makes a refresh token of 256 random bits. */
export const refreshToken = (): string => randomBytes(32).toString("base64url")

/** The SHA-256 of a token, which is all that is stored of a refresh token. */
export const hash = (value: string): Uint8Array => createHash("sha256").update(value).digest()
