/** A KSeF that takes every login with a certificate, and keeps the signed documents. */
import { Effect, Redacted } from "effect"
import type { LoginClient } from "../../src/invoices/ksef/Logins.ts"

const token = { token: Redacted.make("t"), validUntil: Infinity }

/** What a login was begun with. */
export const started = {
  referenceNumber: "r",
  authenticationToken: { token: Redacted.make("a"), validUntil: Infinity }
}

/** Makes it with its time, in milliseconds since the epoch. */
export const makeLoginClient = (ksefNow: number, documents: Array<string>): LoginClient => ({
  challenge: Effect.succeed({ challenge: "c", timestampMs: ksefNow, clientIp: null }),
  loginWithXades: (document) =>
    Effect.sync(() => {
      documents.push(document)
      return started
    }),
  loginWithToken: () => Effect.succeed(started),
  loginStatus: () => Effect.succeed({ status: { code: 200, description: "", details: [] } }),
  redeem: () => Effect.succeed({ accessToken: token, refreshToken: token })
})
