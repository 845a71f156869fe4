import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { logIn } from "../../src/commands/ksef.ts"
import { makeLoginClient } from "../support/loginClient.ts"
import { makePair } from "../../../../packages/ksef/test/support/certificates.ts"

describe("the login of govoice ksef check", () => {
  it.effect("signs with the time of KSeF where our clock is ahead", () =>
    Effect.gen(function* () {
      const ksefNow = Math.floor(Date.now() / 1000) * 1000
      yield* TestClock.setTime(ksefNow + 3_600_000)
      const documents: Array<string> = []
      const client = { ...makeLoginClient(ksefNow, documents), publicKeys: Effect.succeed([]) }
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
