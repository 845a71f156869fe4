import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Metric, References } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import type { Completion } from "../../src/deliveries/Completion.ts"
import * as DeliveryCompleter from "../../src/deliveries/DeliveryCompleter.ts"
import { completion, completions } from "../support/completions.ts"

const outage = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("gone") }) })

type Complete = DeliveryCompleter.CompleterOptions["queue"]["complete"]

const start = Effect.fnUntraced(function* (complete: Complete) {
  const done: Array<ReadonlyArray<Completion>> = []
  let inBackground = 0
  const completer = yield* DeliveryCompleter.make({
    queue: {
      complete,
      completeUnlocked: (batch) => Effect.map(complete(batch), (written) => ({ written, locked: [] }))
    },
    leaseMs: 10_000,
    onCompleted: (batch) => void done.push(batch),
    onBackgroundCompleted: () => Effect.sync(() => void (inBackground += 1))
  })
  return { completer, done, inBackground: () => inBackground }
})

const writeAll: Complete = (batch) => Effect.succeed(batch.map(({ id }) => id))

const counted = (metric: Metric.Counter<number>) => Effect.map(Metric.value(metric), ({ count }) => count)

describe("DeliveryCompleter", () => {
  it.effect("takes at most 500 out of its buffer, the oldest first", () =>
    Effect.gen(function* () {
      const { completer } = yield* start(writeAll)
      const all = completions(502)
      for (const one of all) completer.add(one)
      assert.deepStrictEqual(completer.take(), all.slice(0, 500))
      assert.strictEqual(completer.pending(), 2)
      assert.deepStrictEqual(completer.take(), all.slice(500))
      assert.deepStrictEqual(completer.take(), [])
    })
  )

  it.effect("counts completions as uncommitted until a statement has written or discarded them", () =>
    Effect.gen(function* () {
      const { completer, done } = yield* start(() => Effect.succeed(["wd_0", "wd_2"]))
      for (const one of completions(3)) completer.add(one)
      const batch = completer.take()
      assert.deepStrictEqual([completer.pending(), completer.uncommitted()], [0, 3])
      yield* completer.flush(batch)
      assert.strictEqual(completer.uncommitted(), 0)
      assert.deepStrictEqual(done, [batch])
    })
  )

  it.effect("counts a completion whose lease was lost as stale", () =>
    Effect.gen(function* () {
      const { completer } = yield* start(() => Effect.succeed(["wd_1"]))
      const before = yield* counted(EngineMetrics.staleCompletions("deliveries"))
      const failedBefore = yield* counted(EngineMetrics.deliveriesCompleted("failed"))
      const batch = [completion(0, { status: "failed" }), completion(1, { status: "failed" })]
      for (const one of batch) completer.add(one)
      yield* completer.flush(completer.take())
      assert.strictEqual((yield* counted(EngineMetrics.staleCompletions("deliveries"))) - before, 1)
      assert.strictEqual((yield* counted(EngineMetrics.deliveriesCompleted("failed"))) - failedBefore, 1)
    })
  )

  it.effect("logs the end of each delivery once, and neither retries nor those that succeeded at once", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
        const { attempts, deliveryId, reason, status } = fiber.getRef(References.CurrentLogAnnotations)
        lines.push(
          [logLevel, Array.isArray(message) ? message[0] : message, deliveryId, status, attempts, reason].join(" ")
        )
      })
      const { completer } = yield* start(writeAll)
      const batch = [
        completion(0),
        completion(1, { attempt_count: 3 }),
        completion(2, { status: "retrying", last_error_summary: "Refused." }),
        completion(3, { status: "failed", attempt_count: 9, last_error_summary: "Refused." }),
        completion(4, { status: "endpoint_disabled" })
      ]
      for (const one of batch) completer.add(one)
      yield* completer.flush(completer.take()).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(lines, [
        "Info Delivery ended wd_1 succeeded 3 ",
        "Info Delivery ended wd_3 failed 9 Refused.",
        "Info Delivery ended wd_4 endpoint_disabled 1 "
      ])
    })
  )

  it.effect("retries in the background until the database is back", () =>
    Effect.gen(function* () {
      let isDown = true
      let tries = 0
      const { completer, done, inBackground } = yield* start((batch) =>
        Effect.suspend(() => {
          tries += 1
          return isDown ? Effect.fail(outage) : writeAll(batch)
        })
      )
      for (const one of completions(3)) completer.add(one)
      const batch = completer.take()
      yield* completer.completeInBackground(batch)
      yield* TestClock.adjust(2000)
      assert.isAbove(tries, 3)
      assert.deepStrictEqual([completer.uncommitted(), done.length], [3, 0])
      isDown = false
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual([completer.uncommitted(), done, inBackground()], [0, [batch], 1])
    })
  )

  it.effect("retries a batch that could not be written in the background", () =>
    Effect.gen(function* () {
      let isDown = true
      const { completer, done } = yield* start((batch) =>
        Effect.suspend(() => (isDown ? Effect.fail(outage) : writeAll(batch)))
      )
      completer.add(completion(1))
      const batch = completer.take()
      yield* completer.flush(batch)
      assert.deepStrictEqual([completer.uncommitted(), done.length], [1, 0])
      isDown = false
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual([completer.uncommitted(), done], [0, [batch]])
    })
  )

  it.effect("gives a batch up when its leases have expired", () =>
    Effect.gen(function* () {
      const { completer, inBackground } = yield* start(() => Effect.fail(outage))
      const before = yield* counted(EngineMetrics.staleCompletions("deliveries"))
      for (const one of completions(2)) completer.add(one)
      yield* completer.completeInBackground(completer.take())
      yield* TestClock.adjust(9000)
      assert.strictEqual(completer.uncommitted(), 2)
      yield* TestClock.adjust(2000)
      assert.strictEqual(completer.uncommitted(), 0)
      assert.strictEqual(inBackground(), 1)
      assert.strictEqual((yield* counted(EngineMetrics.staleCompletions("deliveries"))) - before, 2)
    })
  )

  it.effect("writes in the background what the buffer had, while others are added to it", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const { completer } = yield* start((batch) =>
        Effect.delay(
          Effect.sync(() => batch.map(({ id }) => (written.push(id), id))),
          100
        )
      )
      completer.add(completion(1))
      yield* completer.completeInBackground(completer.take())
      completer.add(completion(2))
      yield* TestClock.adjust(100)
      assert.deepStrictEqual(written, ["wd_1"])
      assert.deepStrictEqual([completer.pending(), completer.uncommitted()], [1, 1])
    })
  )

  it.effect("starts nothing for an empty batch", () =>
    Effect.gen(function* () {
      const { completer, inBackground } = yield* start(() => Effect.die("There is nothing to write"))
      yield* completer.completeInBackground([])
      yield* TestClock.adjust(1000)
      assert.strictEqual(inBackground(), 0)
    })
  )
})
