import { assert, describe, it } from "@effect/vitest"
import type { Ids } from "@govoice/core"
import { ErrorCodes } from "@govoice/ksef/protocol"
import { Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { CallFailed } from "../../../src/invoices/ksef/CallFailure.ts"
import type { LaneOrganization } from "../../../src/invoices/ksef/laneRows.ts"
import { makeProcess } from "../../../src/invoices/ksef/LaneProcess.ts"
import * as Logins from "../../../src/invoices/ksef/Logins.ts"
import { makeLoginClient, started } from "../../support/loginClient.ts"
import { makePair } from "../../../../../packages/ksef/test/support/certificates.ts"

const updatedAt = new Date(0)

/** The time of KSeF, which differs from that of the test. */
const ksefNow = Math.floor(Date.now() / 1000) * 1000
const organization = {
  id: "org_1" as Ids.OrganizationId,
  credential_updated_at: updatedAt,
  credential_state: "accepted"
} as LaneOrganization

const refusedBy = (code: number) => {
  const { action, refusal } = ErrorCodes.errorCode("loginWithToken", code)!
  return new CallFailed({
    call: "loginWithToken",
    until: 0,
    failure: { _tag: "code", code, action, refusal, message: "refused" }
  })
}

const wrongChallenge = refusedBy(21111)
const unknownKey = refusedBy(21470)
const unavailable = new CallFailed({
  call: "loginWithToken",
  until: 0,
  failure: { _tag: "unavailable", wasSent: true, message: "no answer" }
})

/** An organization whose logins fail in this order, and then succeed. */
const setUp = (
  failures: ReadonlyArray<CallFailed>,
  credential: object = { type: "ksef_token", token: Redacted.make("secret") }
) => {
  const counts = { logins: 0, invalidations: 0 }
  const documents: Array<string> = []
  const process = makeProcess(8)
  const client = {
    ...makeLoginClient(ksefNow, documents),
    loginWithToken: () =>
      Effect.suspend((): Effect.Effect<typeof started, CallFailed> => {
        const failure = failures[counts.logins]
        counts.logins += 1
        return failure === undefined ? Effect.succeed(started) : Effect.fail(failure)
      })
  }
  const logIn = Effect.gen(function* () {
    // Every holder of the lane has logins of its own. The cast: members that a login with a token does not use are left out.
    const logins = Logins.make({
      call: (_: unknown, effect: Effect.Effect<unknown>) => effect,
      client,
      credentials: {
        read: () =>
          Effect.succeed(Option.some({ context: { type: "Nip", value: "5265877635" }, credential, updatedAt })),
        recordState: () => Effect.void
      },
      keys: { get: () => Effect.succeed({}), invalidate: () => void (counts.invalidations += 1) },
      tokens: { read: () => Effect.succeed(undefined), write: () => Effect.succeed(true) },
      tokenLogins: process.tokenLogins,
      failedLogins: process.failedLogins
    } as unknown as Parameters<typeof Logins.make>[0])
    const login = yield* Effect.forkChild(Effect.result(logins.accessToken(organization)))
    yield* TestClock.adjust("1 second")
    const result = yield* Fiber.join(login)
    return result._tag === "Success" ? "accepted" : result.failure._tag
  })
  return { counts, documents, logIn, process }
}

describe("a login", () => {
  for (const aheadMs of [3_600_000, 0, -3_600_000]) {
    it.effect(`signs with the time of KSeF where our clock is ahead by ${aheadMs} ms`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(ksefNow + aheadMs)
        const { certificate, privateKey } = makePair({ key: "P-256" })
        const { documents, logIn } = setUp([], {
          type: "certificate",
          certificate,
          privateKey: Redacted.make(privateKey)
        })
        assert.strictEqual(yield* logIn, "accepted")
        assert.include(documents[0], `SigningTime>${new Date(ksefNow - 60_000).toISOString()}<`)
      })
    )
  }

  it.effect("is tried once more after a wrong challenge, also if an earlier one failed otherwise", () =>
    Effect.gen(function* () {
      const { counts, logIn } = setUp([wrongChallenge, unavailable, wrongChallenge])
      assert.strictEqual(yield* logIn, "CallFailed")
      assert.strictEqual(counts.logins, 2)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* logIn, "accepted")
      assert.strictEqual(counts.logins, 4)
    })
  )

  it.effect("that KSeF cannot decrypt has the public keys read again, also if that did not help before", () =>
    Effect.gen(function* () {
      const { counts, logIn } = setUp([unknownKey, unknownKey, unknownKey])
      assert.strictEqual(yield* logIn, "CredentialRefused")
      assert.deepStrictEqual(counts, { logins: 2, invalidations: 1 })
      assert.strictEqual(yield* logIn, "accepted")
      assert.deepStrictEqual(counts, { logins: 4, invalidations: 2 })
    })
  )

  it.effect("that fails in turn for a challenge and a key is refused after one more try for each", () =>
    Effect.gen(function* () {
      const { counts, logIn } = setUp([wrongChallenge, unknownKey, wrongChallenge])
      assert.strictEqual(yield* logIn, "CredentialRefused")
      assert.strictEqual(counts.logins, 3)
    })
  )
})

describe("the failed logins of a process", () => {
  it("are evicted after a day", () => {
    const { failedLogins } = makeProcess(8)
    const hour = 3_600_000
    const failure = { credential: 0, action: "wait", count: 1 } as const
    for (let index = 0; index < 100; index++) failedLogins.set(`org_${index}`, failure, 0)
    failedLogins.set("org_0", failure, hour)
    assert.strictEqual(failedLogins.size, 100)
    failedLogins.set("org_new", failure, 24 * hour)
    assert.strictEqual(failedLogins.size, 2)
    assert.deepStrictEqual(failedLogins.get("org_0", 24 * hour), failure)
    assert.isUndefined(failedLogins.get("org_0", 25 * hour))
  })
})
