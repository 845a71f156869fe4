import { assert, describe, it } from "@effect/vitest"
import type { KsefClient } from "@govoice/ksef/client"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { logIn } from "../../src/commands/ksef.ts"
import { makePair } from "../../../../packages/ksef/test/support/certificates.ts"

describe("the login of govoice ksef check", () => {
  it.effect("signs with the time of KSeF where our clock is ahead", () =>
    Effect.gen(function* () {
      const ksefNow = Math.floor(Date.now() / 1000) * 1000
      yield* TestClock.setTime(ksefNow + 3_600_000)
      const documents: Array<string> = []
      const token = { token: Redacted.make("t"), validUntil: Infinity }
      // The cast: members that a login with a certificate does not use are left out.
      const client = {
        challenge: Effect.succeed({ challenge: "c", timestampMs: ksefNow }),
        loginWithXades: (document: string) =>
          Effect.sync(() => {
            documents.push(document)
            return { referenceNumber: "r", authenticationToken: { token: Redacted.make("a") } }
          }),
        loginStatus: () => Effect.succeed({ status: { code: 200, description: "", details: [] } }),
        redeem: () => Effect.succeed({ accessToken: token, refreshToken: token })
      } as unknown as KsefClient.KsefClient
      const { certificate, privateKey } = makePair({ key: "P-256" })
      const login = yield* Effect.forkChild(
        logIn(client, {
          context: { type: "Nip", value: "5265877635" },
          credential: { type: "certificate", certificate, privateKey: Redacted.make(privateKey) }
        })
      )
      yield* TestClock.adjust("1 second")
      assert.strictEqual(Redacted.value((yield* Fiber.join(login)).accessToken.token), "t")
      assert.include(documents[0], `SigningTime>${new Date(ksefNow - 60_000).toISOString()}<`)
    })
  )
})
