import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccessTokens } from "../../src/accounts/AccessTokens.ts"
import { type ApiKeyIdentity, ApiKeys } from "../../src/accounts/ApiKeys.ts"
import * as ApiKeySecret from "../../src/accounts/ApiKeySecret.ts"
import * as Authenticator from "../../src/accounts/Authenticator.ts"
import { Sessions } from "../../src/accounts/Sessions.ts"
import * as SlidingWindowStore from "../../src/limits/SlidingWindowStore.ts"

const identity: ApiKeyIdentity = {
  id: "key_01m7q5cqg0e6786ptds43fm4k3",
  organizationId: "org_01m7q5cqg0e6786ptds43fm4k3",
  mode: "test",
  expiresAt: null
}

const make = () => {
  const valid = [ApiKeySecret.generate("test"), ApiKeySecret.generate("live")] as const
  const hashes = valid.map((secret) => Buffer.from(ApiKeySecret.hash(secret)))
  let queries = 0
  const apiKeys = Layer.mock(ApiKeys)({
    findIdentity: (hash) =>
      Effect.sync(() => {
        queries++
        return hashes.some((known) => known.equals(hash)) ? identity : undefined
      })
  })
  const layer = Authenticator.layer.pipe(
    Layer.provide([apiKeys, Layer.mock(AccessTokens)({}), Layer.mock(Sessions)({}), SlidingWindowStore.layerMemory])
  )
  return { valid, layer, queries: () => queries }
}

const authenticate = (secret: string, network = "192.0.2.1") =>
  Effect.flatMap(Authenticator.Authenticator, (authenticator) =>
    authenticator.authenticateApiKey(secret, network).pipe(
      Effect.map((found) => (found === undefined ? "unknown" : "valid")),
      Effect.catchTag("Throttled", ({ waitMs }) => Effect.succeed(waitMs))
    )
  )

const authenticateUnknown = (network?: string) =>
  Effect.suspend(() => authenticate(ApiKeySecret.generate("test"), network))

describe("Authenticator", () => {
  it.effect("queries for 100 unknown keys of a network in a sliding minute, and then refuses them", () => {
    const { layer, queries } = make()
    return Effect.gen(function* () {
      for (let key = 0; key < 100; key++) assert.strictEqual(yield* authenticateUnknown(), "unknown")
      for (let key = 0; key < 100; key++) assert.strictEqual(yield* authenticateUnknown(), 60_000)
      assert.strictEqual(queries(), 100)
      assert.strictEqual(yield* authenticateUnknown("192.0.2.2"), "unknown")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* authenticateUnknown(), "unknown")
    }).pipe(Effect.provide(layer))
  })

  it.effect("accepts only keys that were valid before from a network with too many unknown keys", () => {
    const { layer, valid } = make()
    return Effect.gen(function* () {
      assert.strictEqual(yield* authenticate(valid[0], "198.51.100.1"), "valid")
      for (let key = 0; key < 100; key++) yield* authenticateUnknown()
      assert.strictEqual(yield* authenticate(valid[0]), "valid")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* authenticate(valid[0]), "valid", "also when it is no longer cached")
      assert.strictEqual(yield* authenticate(valid[1]), 50_000)
      yield* Effect.flatMap(Authenticator.Authenticator, (authenticator) =>
        authenticator.invalidateApiKey(ApiKeySecret.hash(valid[0]))
      )
      assert.strictEqual(yield* authenticate(valid[0]), 50_000, "a revoked key has no exemption")
    }).pipe(Effect.provide(layer))
  })

  it.effect("rejects malformed keys and repeated unknown keys without a query", () => {
    const { layer, queries } = make()
    const repeated = ApiKeySecret.generate("test")
    return Effect.gen(function* () {
      for (let time = 0; time < 500; time++) {
        assert.strictEqual(yield* authenticate(`${repeated}x`), "unknown")
        assert.strictEqual(yield* authenticate(repeated), "unknown")
      }
      assert.strictEqual(queries(), 1)
    }).pipe(Effect.provide(layer))
  })
})
