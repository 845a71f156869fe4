/**
 * Random tokens that mean nothing by themselves: signing secrets and refresh tokens.
 *
 * @since 0.1.0
 */
import { createHash, randomBytes } from "node:crypto"

const token = (): string => randomBytes(32).toString("base64url")

/**
 * Makes the signing secret of a webhook endpoint. The whole string, prefix included, is the HMAC key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const signingSecret = (): string => `whsec_${token()}`

/**
 * Makes a refresh token of 256 random bits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refreshToken = (): string => token()

/**
 * The SHA-256 of a token, which is all that is stored of a refresh token.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hash = (value: string): Uint8Array => createHash("sha256").update(value).digest()
