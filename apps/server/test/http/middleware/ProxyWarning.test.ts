import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import * as ProxyWarning from "../../../src/http/middleware/ProxyWarning.ts"

const warningsOf = (requests: ReadonlyArray<boolean>) =>
  Effect.gen(function* () {
    const messages: Array<unknown> = []
    const note = yield* ProxyWarning.make
    yield* Effect.forEach(requests, (isForwarded) =>
      note("10.0.0.7", isForwarded ? { "x-forwarded-for": "192.0.2.1" } : {})
    ).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void messages.push(message))])))
    return messages
  })

const many = (count: number, isForwarded: (index: number) => boolean) =>
  Array.from({ length: count }, (_, index) => isForwarded(index))

describe("ProxyWarning", () => {
  it.effect("warns once when most requests are forwarded", () =>
    Effect.gen(function* () {
      const messages = yield* warningsOf(many(1000, (index) => index % 3 !== 0))
      assert.lengthOf(messages, 1)
      assert.include(String(messages[0]), "GOVOICE_TRUSTED_PROXIES")
    })
  )

  it.effect("does not warn of few requests, or of a client that adds the header", () =>
    Effect.gen(function* () {
      assert.isEmpty(yield* warningsOf(many(ProxyWarning.sample - 1, () => true)))
      assert.isEmpty(yield* warningsOf(many(1000, (index) => index % 2 === 0)))
    })
  )

  // A trusted proxy ends many connections whose clients have gone.
  it.effect("does not warn of requests whose connection has ended", () =>
    Effect.gen(function* () {
      const note = yield* ProxyWarning.make
      const messages: Array<unknown> = []
      yield* Effect.forEach(
        many(1000, () => true),
        () => note(undefined, { "x-forwarded-for": "192.0.2.1" })
      ).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void messages.push(message))])))
      assert.isEmpty(messages)
    })
  )
})
