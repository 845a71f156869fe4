/** Random tokens that mean nothing by themselves: signing secrets and refresh tokens. */
import { createHash, randomBytes } from "node:crypto"

const token = (): string => randomBytes(32).toString("base64url")

/** Makes the signing secret of a webhook endpoint. The whole string, prefix included, is the HMAC key. */
export const signingSecret = (): string => `whsec_${token()}`

/** Makes a refresh token of 256 random bits. */
export const refreshToken = (): string => token()

/** The SHA-256 of a token, which is all that is stored of a refresh token. */
export const hash = (value: string): Uint8Array => createHash("sha256").update(value).digest()
