/** Random tokens that mean nothing by themselves: signing secrets and refresh tokens. */
import { createHash, randomBytes, randomInt } from "node:crypto"

const token = (): string => randomBytes(32).toString("base64url")

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/**
 * Makes the signing secret of a webhook endpoint: `whsec_` and 44 letters and digits, 262 random bits. The whole string,
 * prefix included, is the HMAC key of `Gov-Signature`. The characters after the prefix are also whole base64 of 33 bytes, the
 * key of Standard Webhooks.
 */
export const signingSecret = (): string =>
  `whsec_${Array.from({ length: 44 }, () => alphanumeric.charAt(randomInt(alphanumeric.length))).join("")}`

/** Makes a refresh token of 256 random bits. */
export const refreshToken = (): string => token()

/** The SHA-256 of a token, which is all that is stored of a refresh token. */
export const hash = (value: string): Uint8Array => createHash("sha256").update(value).digest()
