/** New values of the secret settings. */
import { randomBytes } from "node:crypto"

/** A value for `GOVOICE_JWT_SECRET`. */
export const jwtSecret = (): string => randomBytes(48).toString("base64url")

/** An entry for `GOVOICE_ENCRYPTION_KEYS`. */
export const encryptionKey = (id: string): string => `${id}:${randomBytes(32).toString("base64")}`
