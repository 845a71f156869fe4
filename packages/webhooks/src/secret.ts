/**
 * Endpoint secrets.
 *
 * @module
 */
import { check } from "./error.ts"

/** Refuses what cannot be the secret of an endpoint. The key is the whole string, prefix included. */
export const checkSecret = (secret: unknown): string => {
  check(typeof secret === "string" && /^whsec_[!-~]+$/.test(secret), "bad_secret", undefined, 500)
  return secret
}
