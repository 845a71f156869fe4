import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Metric } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Completion } from "../../src/deliveries/Completion.ts"
import * as CompletionWriter from "../../src/deliveries/CompletionWriter.ts"
import type { DeliveryQueue } from "../../src/deliveries/DeliveryQueue.ts"
import * as EngineMetrics from "../../src/observability/EngineMetrics.ts"
import { completion, completions } from "../support/completions.ts"

const outage = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("gone") }) })
const refusal = new SqlError.SqlError({ reason: new SqlError.ConstraintError({ cause: new Error("no") }) })

/** A queue whose completions run `complete`. Nothing of it is locked. */
const queueOf = (complete: DeliveryQueue["Service"]["complete"]) => ({
  complete,
  completeUnlocked: (batch: ReadonlyArray<Completion>) =>
    Effect.map(complete(batch), (written) => ({ written, locked: [] }))
})

const stale = Effect.map(Metric.value(EngineMetrics.staleCompletions("deliveries")), ({ count }) => count)

describe("CompletionWriter", () => {
  it.effect("retries a batch while the database is unavailable, until its leases are lost", () =>
    Effect.gen(function* () {
      let attempts = 0
      let isDown = true
      const writer = CompletionWriter.make(
        queueOf((batch) =>
          Effect.suspend(() => {
            attempts += 1
            return isDown ? Effect.fail(outage) : Effect.succeed(batch.map(({ id }) => id))
          })
        ),
        5000
      )
      const before = yield* stale
      const first = yield* Effect.forkChild(writer.writeWithRetry([completion(1)]))
      yield* TestClock.adjust(1000)
      assert.isAbove(attempts, 2)
      isDown = false
      yield* TestClock.adjust(500)
      yield* Fiber.join(first)
      assert.strictEqual((yield* stale) - before, 0)

      isDown = true
      const second = yield* Effect.forkChild(writer.writeWithRetry([completion(2)]))
      yield* TestClock.adjust(4000)
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(2000)
      yield* Fiber.join(second)
      assert.strictEqual((yield* stale) - before, 1)
    })
  )

  it.effect("retries the completions whose rows are locked, without the others", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<string>> = []
      const isOfLocked = (id: string) => id === "wd_2"
      let isLocked = true
      const writer = CompletionWriter.make(
        {
          complete: () => Effect.die("not used"),
          completeUnlocked: (batch) =>
            Effect.sync(() => {
              const ids = batch.map(({ id }) => id)
              batches.push(ids)
              return isLocked
                ? { written: ids.filter((id) => !isOfLocked(id)), locked: ids.filter(isOfLocked) }
                : { written: ids, locked: [] }
            })
        },
        5000
      )
      const before = yield* stale
      const first = yield* Effect.forkChild(writer.writeWithRetry(completions(4)))
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(batches.slice(0, 2), [["wd_0", "wd_1", "wd_2", "wd_3"], ["wd_2"]])
      isLocked = false
      yield* TestClock.adjust(500)
      yield* Fiber.join(first)
      assert.strictEqual((yield* stale) - before, 0)

      isLocked = true
      const second = yield* Effect.forkChild(writer.writeWithRetry(completions(4)))
      yield* TestClock.adjust(6000)
      yield* Fiber.join(second)
      assert.strictEqual((yield* stale) - before, 1)
    })
  )

  it.effect(
    "retries until the leases are lost, and no longer where rows were locked before the database was unavailable",
    () =>
      Effect.gen(function* () {
        let attempts = 0
        let isDown = false
        const writer = CompletionWriter.make(
          {
            complete: () => Effect.die("not used"),
            completeUnlocked: (batch) =>
              Effect.suspend(() => {
                attempts += 1
                return isDown ? Effect.fail(outage) : Effect.succeed({ written: [], locked: batch.map(({ id }) => id) })
              })
          },
          5000
        )
        const writing = yield* Effect.forkChild(writer.writeWithRetry([completion(1)]))
        yield* TestClock.adjust(4000)
        isDown = true
        yield* TestClock.adjust(2000)
        assert.isDefined(writing.pollUnsafe())
        assert.isAtMost(attempts, 5000 / 250 + 1)
      })
  )

  it.effect("gives up only the completion that the database refuses", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      const writer = CompletionWriter.make(
        queueOf((batch) =>
          Effect.suspend(() => {
            const ids = batch.map(({ id }) => id)
            if (ids.includes("wd_13")) return Effect.fail(refusal)
            if (ids.includes("wd_17")) return Effect.die(new Error("a mistake of ours"))
            written.push(...ids)
            return Effect.succeed(ids)
          })
        ),
        5000
      )
      const before = yield* stale
      const all = completions(40)
      yield* writer.writeWithRetry(all)
      assert.deepStrictEqual(
        written,
        all.map(({ id }) => id).filter((id) => id !== "wd_13" && id !== "wd_17")
      )
      assert.strictEqual((yield* stale) - before, 2)
    })
  )
})
