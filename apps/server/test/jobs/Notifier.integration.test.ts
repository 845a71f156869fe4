/** Workers of several processes on one database wake each other by notifications. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import * as Notifier from "../../src/jobs/Notifier.ts"
import { layerEmbeddedLive, layerPostgresLive } from "../support/TestDatabase.ts"

const start = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const notifier = yield* Effect.provide(
    Notifier.Notifier,
    yield* Layer.buildWithScope(Layer.fresh(Notifier.layer), scope)
  )
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  return notifier
})

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })("Notifier (Postgres)", (it) => {
  it.effect("wakes the workers of a kind in all processes, and no others", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* start, yield* start]
      // Each is woken when it begins to listen.
      yield* Effect.forEach(["deliveries", "lanes"] as const, (kind) => second.wait(kind, 50_000))
      while (yield* second.wait("deliveries", 500));
      while (yield* second.wait("lanes", 500));
      yield* first.wake("deliveries")
      assert.isTrue(yield* first.wait("deliveries", 50_000))
      assert.isTrue(yield* second.wait("deliveries", 50_000))
      assert.isFalse(yield* second.wait("lanes", 500))
    })
  )

  it.effect("ends a wait for a recheck without a wake", () =>
    Effect.gen(function* () {
      const notifier = yield* start
      yield* notifier.wait("deliveries", 50_000)
      while (yield* notifier.wait("deliveries", 500));
      yield* notifier.recheck("deliveries")
      assert.isFalse(yield* notifier.wait("deliveries", 50_000))
    })
  )
})

layer(layerEmbeddedLive, { timeout: "120 seconds", excludeTestServices: true })("Notifier (embedded)", (it) => {
  it.effect("wakes the workers of its process", () =>
    Effect.gen(function* () {
      const notifier = yield* start
      yield* notifier.wake("invoices")
      assert.isTrue(yield* notifier.wait("invoices", 50_000))
      assert.isFalse(yield* notifier.wait("deliveries", 100))
    })
  )
})
