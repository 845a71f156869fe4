import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as RetryingBatcher from "../../src/jobs/RetryingBatcher.ts"

const outage = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("gone") }) })
const refusal = new SqlError.SqlError({ reason: new SqlError.ConstraintError({ cause: new Error("no") }) })

const settled = <A>(fibers: ReadonlyArray<Fiber.Fiber<A>>) => Effect.forEach(fibers, Fiber.join)

describe("RetryingBatcher", () => {
  it.effect("writes a single entry at once", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const write = yield* RetryingBatcher.make<number, string>({
        name: "things",
        retryForMs: 1000,
        write: (entries) =>
          Effect.sync(() => {
            batches.push(entries)
            return entries.map((entry) => `answer ${entry}`)
          })
      })
      assert.strictEqual(yield* write(1), "answer 1")
      assert.strictEqual(yield* write(2), "answer 2")
      assert.deepStrictEqual(batches, [[1], [2]])
    })
  )

  it.effect("batches entries that arrive while a batch is in progress, and returns the answer of each", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const gate = yield* Deferred.make<void>()
      const write = yield* RetryingBatcher.make<number, number>({
        name: "things",
        retryForMs: 1000,
        write: (entries) =>
          Effect.suspend(() => {
            batches.push(entries)
            return Effect.as(
              Deferred.await(gate),
              entries.map((entry) => entry * 2)
            )
          })
      })
      const first = yield* Effect.forkChild(write(0))
      yield* Effect.yieldNow
      const others = yield* Effect.forEach([1, 2, 3], (n) => Effect.forkChild(write(n)))
      yield* TestClock.adjust(1)
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* settled([first, ...others]), [0, 2, 4, 6])
      assert.deepStrictEqual(batches, [[0], [1, 2, 3]])
    })
  )

  it.effect("retries a batch while the database is unavailable, for at most retryForMs", () =>
    Effect.gen(function* () {
      let attempts = 0
      let isDown = true
      const write = yield* RetryingBatcher.make<number, boolean>({
        name: "things",
        retryForMs: 5000,
        write: (entries) =>
          Effect.suspend(() => {
            attempts += 1
            return isDown ? Effect.fail(outage) : Effect.succeed(entries.map(() => true))
          })
      })
      const first = yield* Effect.forkChild(write(1))
      yield* TestClock.adjust(1000)
      assert.isAbove(attempts, 2)
      isDown = false
      yield* TestClock.adjust(500)
      assert.strictEqual(yield* Fiber.join(first), true)

      isDown = true
      const second = yield* Effect.forkChild(write(2))
      yield* TestClock.adjust(4000)
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(2000)
      assert.strictEqual(yield* Fiber.join(second), undefined)

      isDown = false
      assert.strictEqual(yield* write(3), true)
    })
  )

  it.effect("gives up only the entry that the database refuses", () =>
    Effect.gen(function* () {
      const written: Array<number> = []
      const gate = yield* Deferred.make<void>()
      const write = yield* RetryingBatcher.make<number, boolean>({
        name: "things",
        retryForMs: 5000,
        write: (entries) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.suspend(() => {
              if (entries.includes(13)) return Effect.fail(refusal)
              if (entries.includes(17)) return Effect.die(new Error("a mistake of ours"))
              written.push(...entries)
              return Effect.succeed(entries.map(() => true))
            })
          )
      })
      const entries = Array.from({ length: 40 }, (_, n) => n)
      const fibers = yield* Effect.forEach(entries, (n) => Effect.forkChild(write(n)))
      yield* TestClock.adjust(1)
      yield* Deferred.succeed(gate, undefined)
      const answers = yield* settled(fibers)
      assert.deepStrictEqual(
        answers,
        entries.map((n) => (n === 13 || n === 17 ? undefined : true))
      )
      assert.sameMembers(
        written,
        entries.filter((n) => n !== 13 && n !== 17)
      )
      assert.isTrue(Option.isSome(Option.some(yield* write(99))))
    })
  )
})
