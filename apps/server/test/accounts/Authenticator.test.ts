import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccessTokens } from "../../src/accounts/AccessTokens.ts"
import { type ApiKeyIdentity, ApiKeys } from "../../src/accounts/ApiKeys.ts"
import * as ApiKeySecret from "../../src/accounts/ApiKeySecret.ts"
import * as Authenticator from "../../src/accounts/Authenticator.ts"
import { Sessions } from "../../src/accounts/Sessions.ts"
import * as SlidingWindows from "../../src/limits/SlidingWindows.ts"

const identity: ApiKeyIdentity = {
  id: "key_01m7q5cqg0e6786ptds43fm4k3",
  accountId: "acct_01m7q5cqg0e6786ptds43fm4k3",
  organizationId: "org_01m7q5cqg0e6786ptds43fm4k3",
  mode: "test",
  expiresAt: null
}

const make = () => {
  const valid = [
    ApiKeySecret.generate("test", "org_00000000000000000000000000"),
    ApiKeySecret.generate("live", "org_00000000000000000000000000")
  ] as const
  const hashes = valid.map((secret) => Buffer.from(ApiKeySecret.hash(secret)))
  let queries = 0
  let running = 0
  let most = 0
  const apiKeys = Layer.mock(ApiKeys)({
    findIdentity: (hash) =>
      Effect.gen(function* () {
        queries++
        most = Math.max(most, ++running)
        yield* Effect.yieldNow
        running--
        return hashes.some((known) => known.equals(hash)) ? identity : undefined
      })
  })
  const layer = Authenticator.layer.pipe(
    Layer.provide([apiKeys, Layer.mock(AccessTokens)({}), Layer.mock(Sessions)({}), SlidingWindows.layerMemory])
  )
  return { valid, layer, queries: () => queries, most: () => most }
}

const authenticate = (secret: string, network = "192.0.2.1") =>
  Effect.flatMap(Authenticator.Authenticator, (authenticator) =>
    authenticator.authenticateApiKey(secret, network).pipe(
      Effect.map((found) => (found === undefined ? "unknown" : "valid")),
      Effect.catchTag("Throttled", ({ waitMs }) => Effect.succeed(waitMs))
    )
  )

const authenticateUnknown = (network?: string) =>
  Effect.suspend(() => authenticate(ApiKeySecret.generate("test", "org_00000000000000000000000000"), network))

describe("Authenticator", () => {
  it.effect("answers 100 unknown keys of a network in a sliding minute, and then refuses them", () => {
    const { layer } = make()
    return Effect.gen(function* () {
      for (let key = 0; key < 100; key++) assert.strictEqual(yield* authenticateUnknown(), "unknown")
      for (let key = 0; key < 100; key++) assert.strictEqual(yield* authenticateUnknown(), 60_000)
      assert.strictEqual(yield* authenticateUnknown("192.0.2.2"), "unknown")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* authenticateUnknown(), "unknown")
    }).pipe(Effect.provide(layer))
  })

  it.effect("accepts every valid key from a network with too many unknown keys, also one that it never saw", () => {
    const { layer, valid } = make()
    return Effect.gen(function* () {
      for (let key = 0; key < 100; key++) yield* authenticateUnknown()
      assert.strictEqual(yield* authenticate(valid[0]), "valid")
      assert.strictEqual(yield* authenticateUnknown(), 60_000)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* authenticate(valid[0]), "valid", "also when it is no longer cached")
      assert.strictEqual(yield* authenticate(valid[1]), "valid")
    }).pipe(Effect.provide(layer))
  })

  it.effect("looks keys up one at a time for a network with too many unknown keys", () => {
    const { layer, most, valid } = make()
    return Effect.gen(function* () {
      for (let key = 0; key < 100; key++) yield* authenticateUnknown()
      const results = yield* Effect.all(
        [...Array.from({ length: 50 }, () => authenticateUnknown()), authenticate(valid[1])],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results, [...Array<number>(50).fill(60_000), "valid"])
      assert.strictEqual(most(), 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("rejects malformed keys and repeated unknown keys without a query", () => {
    const { layer, queries } = make()
    const repeated = ApiKeySecret.generate("test", "org_00000000000000000000000000")
    return Effect.gen(function* () {
      for (let time = 0; time < 500; time++) {
        assert.strictEqual(yield* authenticate(`${repeated}x`), "unknown")
        assert.strictEqual(yield* authenticate(repeated), "unknown")
      }
      assert.strictEqual(queries(), 1)
    }).pipe(Effect.provide(layer))
  })
})
