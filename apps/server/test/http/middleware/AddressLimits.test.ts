import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SlidingWindows from "../../../src/limits/SlidingWindows.ts"
import * as AddressLimits from "../../../src/http/middleware/AddressLimits.ts"

const layer = AddressLimits.layer.pipe(Layer.provide(SlidingWindows.layerMemory))

const waitOf = (kind: AddressLimits.LimitedCall, address: string) =>
  Effect.flatMap(AddressLimits.AddressLimits, (limits) =>
    limits.take(kind, address).pipe(
      Effect.as(0),
      Effect.catchTag("Throttled", ({ waitMs }) => Effect.succeed(waitMs))
    )
  )

describe("AddressLimits", () => {
  it.effect("allows 100 calls of one kind from one address in a sliding minute", () =>
    Effect.gen(function* () {
      for (let call = 0; call < 100; call++) {
        assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 0)
        yield* TestClock.adjust("100 millis")
      }
      assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 50_000)
      assert.strictEqual(yield* waitOf("refresh", "192.0.2.1"), 0)
      assert.strictEqual(yield* waitOf("login", "192.0.2.2"), 0)
      yield* TestClock.adjust("49999 millis")
      assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 0)
      assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 100, "one place is free at a time")
    }).pipe(Effect.provide(layer))
  )

  it.effect("allows 10 requests for mails that reset passwords", () =>
    Effect.gen(function* () {
      for (let call = 0; call < 10; call++) assert.strictEqual(yield* waitOf("password-reset", "192.0.2.1"), 0)
      assert.strictEqual(yield* waitOf("password-reset", "192.0.2.1"), 60_000)
      assert.strictEqual(yield* waitOf("login", "192.0.2.1"), 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("counts an IPv6 network of 64 bits as one address", () =>
    Effect.gen(function* () {
      for (let call = 0; call < 100; call++) yield* waitOf("login", `2001:db8:1:2::${call.toString(16)}`)
      assert.isAbove(yield* waitOf("login", "2001:db8:1:2:ffff::1"), 0)
      assert.strictEqual(yield* waitOf("login", "2001:db8:1:3::1"), 0)
    }).pipe(Effect.provide(layer))
  )
})
