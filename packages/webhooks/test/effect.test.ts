import { createVerifier as createRootVerifier } from "@govoice/webhooks"
import { createVerifier, sign, signedHeaders, signSync, WebhookVerificationError } from "@govoice/webhooks/effect"
import { signedWebhook } from "@govoice/webhooks/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import { afterEach, vi } from "vitest"

const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

afterEach(() => void vi.restoreAllMocks())

const withoutNodeCrypto = () => vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)

describe("createVerifier of /effect", () => {
  it("verifies synchronously with node:crypto", () => {
    const { body, headers, event } = signedWebhook({ secret, type: "invoice.accepted" })
    const { verify, verifySync } = createVerifier({ secret })
    assert.strictEqual(Effect.runSync(verify(body, headers)).id, event.id)
    assert.strictEqual(Effect.runSync(verifySync(body, headers)).id, event.id)
  })

  it.effect("fails with the error that the root entry throws", () =>
    Effect.gen(function* () {
      const { body, headers } = signedWebhook({ secret, type: "invoice.accepted" })
      const error = yield* createVerifier({ secret }).verify(`${body} `, headers).pipe(Effect.flip)
      assert.instanceOf(error, WebhookVerificationError)
      assert.strictEqual(error.code, "no_match")
    })
  )

  it.effect("fails with an error that Effect.catchTag catches by its tag", () =>
    Effect.gen(function* () {
      const code = yield* createVerifier({ secret })
        .verify("", {})
        .pipe(
          Effect.map(() => "ok" as const),
          Effect.catchTag("WebhookVerificationError", ({ code }) => Effect.succeed(code))
        )
      assert.strictEqual(code, "missing_header")
    })
  )

  it.effect("reads the time from an Effect, which TestClock controls", () =>
    Effect.gen(function* () {
      const { body, headers } = signedWebhook({ secret, type: "invoice.accepted", now: 1_000_000 })
      const { verify } = createVerifier({ secret, now: Clock.currentTimeMillis })
      yield* TestClock.setTime(1_300_000)
      yield* verify(body, headers)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Effect.flip(verify(body, headers))).code, "timestamp_too_old")
      yield* TestClock.setTime(699_999)
      assert.strictEqual((yield* Effect.flip(verify(body, headers))).code, "timestamp_too_new")
    })
  )

  it.effect("returns each of 20 concurrent verifications its own event with Web Crypto", () =>
    Effect.gen(function* () {
      const webhooks = Array.from({ length: 20 }, () => signedWebhook({ secret, type: "invoice.submitted" }))
      withoutNodeCrypto()
      const { verify, verifySync } = createVerifier({ secret })
      const ids = yield* Effect.forEach(webhooks, ({ body, headers }) => verify(body, headers), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        ids.map(({ id }) => id),
        webhooks.map(({ event }) => event.id)
      )
      const { body, headers } = webhooks[0]!
      assert.strictEqual((yield* Effect.flip(verify(`${body} `, headers))).code, "no_match")
      const exit = yield* Effect.exit(verifySync(body, headers))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("Use verify"))
    })
  )

  it.effect("verifies a Request, and rejects one that was read before", () =>
    Effect.gen(function* () {
      const { request, event } = signedWebhook({ secret, type: "invoice.failed" })
      const { verifyRequest } = createVerifier({ secret })
      assert.strictEqual((yield* verifyRequest(request)).id, event.id)
      assert.strictEqual((yield* Effect.flip(verifyRequest(request))).code, "body_not_raw")
    })
  )

  it("throws bad_secret when it is called with an invalid secret", () => {
    assert.throws(() => createVerifier({ secret: "nope" }), /bad_secret/)
  })
})

describe("The signers of /effect", () => {
  it.effect("sign webhooks that the root entry verifies", () =>
    Effect.gen(function* () {
      const body = '{"id":"evt_1","type":"invoice.accepted"}'
      const timestamp = new Date()
      const signature = yield* sign({ secret, timestamp, body })
      assert.strictEqual(yield* signSync({ secret, timestamp, body }), signature)
      const headers = yield* signedHeaders({ id: "evt_1", secret, timestamp, body })
      assert.strictEqual(headers["Gov-Signature"], signature)
      assert.strictEqual(createRootVerifier({ secret }).verifySync(body, headers).id, "evt_1")
    })
  )

  it.effect("fail with bad_secret for an invalid secret, once they are run", () =>
    Effect.gen(function* () {
      const options = { secret: "nope", timestamp: new Date(), body: "{}" }
      for (const effect of [sign(options), signSync(options), signedHeaders({ ...options, id: "evt_1" })]) {
        assert.strictEqual((yield* Effect.flip<unknown, WebhookVerificationError, never>(effect)).code, "bad_secret")
      }
    })
  )
})
