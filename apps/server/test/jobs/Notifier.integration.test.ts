/** Workers of several processes on one database wake each other by notifications. */
import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Shared } from "../../src/database/Database.ts"
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

it.effect("a process that gets no notifications says so once, and when it gets them again", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ message }) => void lines.push(...[message].flat()))
    let isGone = true
    const pg = {
      listen: () => (isGone ? Effect.fail("gone") : Queue.unbounded()),
      notify: () => Effect.void
    } as unknown as PgClient.PgClient
    const services = Notifier.layer.pipe(
      Layer.provide(Layer.succeed(PgClient.PgClient, pg)),
      Layer.provide(Layer.succeed(Shared, true)),
      Layer.provide(Logger.layer([logger]))
    )
    yield* Layer.build(services)
    yield* TestClock.adjust("3 seconds")
    assert.deepStrictEqual(lines, [])
    yield* TestClock.adjust("20 seconds")
    isGone = false
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(lines, [
      "Notifications of other processes unavailable; workers look for work every second",
      "Notifications of other processes available again"
    ])
  })
)

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
