/** Workers of several processes on one database wake each other by notifications. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Logger, Scope } from "effect"
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { inject } from "vitest"
import { freePort } from "../../../../test/support/freePort.ts"
import { Shared } from "../../src/database/Database.ts"
import * as PostgresClient from "../../src/database/PostgresClient.ts"
import * as Notifier from "../../src/jobs/Notifier.ts"
import * as live from "../support/live.ts"
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

it.live("a process that gets no notifications says so once, and when it gets them again", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
    const url = inject("databaseUrl")
    // Nobody listens there yet.
    const direct = new URL(url)
    direct.port = String(yield* Effect.promise(freePort))
    const client = PostgresClient.layer(
      { _tag: "Postgres", url, pooler: { directUrl: direct.href } },
      { applicationName: "test", maxConnections: 1, parameters: {}, decidePlans: false }
    )
    yield* Layer.build(Notifier.layer.pipe(Layer.provide([client, Layer.succeed(Shared, true), logger])))
    const has = (count: number) => Effect.sync(() => lines.length >= count)
    yield* live.poll(has(1), (isThere) => isThere)
    const proxy = createServer((socket) => {
      const upstream = connect(Number(new URL(url).port), "127.0.0.1")
      for (const one of [socket, upstream]) one.on("error", () => {})
      socket.pipe(upstream).pipe(socket)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(proxy.listen(Number(direct.port), "127.0.0.1"), "listening")),
      () => Effect.sync(() => void proxy.close())
    )
    yield* live.poll(has(2), (isThere) => isThere)
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
