import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as ConcurrencyLimit from "../../src/limits/ConcurrencyLimit.ts"

const options = { perKey: 2, maxWaiting: 3, maxWaitMs: 60_000 }

/** Starts effects that run until they are told to end, and counts those that run. */
const makeWork = Effect.gen(function* () {
  const end = yield* Deferred.make<void>()
  let running = 0
  let most = 0
  const work = Effect.gen(function* () {
    running++
    most = Math.max(most, running)
    yield* Deferred.await(end)
  }).pipe(Effect.ensuring(Effect.sync(() => running--)))
  return { work, end: Deferred.succeed(end, undefined), running: () => running, most: () => most }
})

describe("ConcurrencyLimit", () => {
  it.live("runs as many effects of a key as it allows, lets a few wait, and refuses the rest at once", () =>
    Effect.gen(function* () {
      const limit = ConcurrencyLimit.make(options)
      const { end, most, running, work } = yield* makeWork
      const fibers = yield* Effect.forEach(Array(20), () =>
        Effect.forkChild(Effect.result(limit.run("a")(work)), { startImmediately: true })
      )
      assert.strictEqual(running(), 2)
      const refused = fibers.filter((fiber) => fiber.pollUnsafe() !== undefined)
      assert.lengthOf(refused, 15)

      const other = yield* Effect.forkChild(limit.run("b")(work), { startImmediately: true })
      assert.strictEqual(running(), 3, "another key is not limited by the first")

      yield* end
      const results = yield* Effect.forEach(fibers, Fiber.join)
      yield* Fiber.join(other)
      assert.lengthOf(
        results.filter(({ _tag }) => _tag === "Success"),
        5
      )
      assert.isAtMost(most(), 3)
      assert.strictEqual(limit.size(), 0)
    })
  )

  it.live("refuses what has waited for too long, and keeps its slots", () =>
    Effect.gen(function* () {
      const limit = ConcurrencyLimit.make({ ...options, maxWaitMs: 20 })
      const { end, work } = yield* makeWork
      const running = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(limit.run("a")(work), { startImmediately: true })
      )
      const late = yield* Effect.result(limit.run("a")(work))
      assert.strictEqual(late._tag, "Failure")
      yield* end
      yield* Effect.forEach(running, Fiber.join)
      assert.strictEqual(limit.size(), 0)
      yield* limit.run("a")(Effect.void)
    })
  )

  it.live("frees the slot of an effect that fails, dies or is interrupted, also while it waits", () =>
    Effect.gen(function* () {
      const limit = ConcurrencyLimit.make(options)
      yield* Effect.exit(limit.run("a")(Effect.fail("no")))
      yield* Effect.exit(limit.run("a")(Effect.die("no")))
      const { end, work } = yield* makeWork
      const fibers = yield* Effect.forEach(Array(5), () =>
        Effect.forkChild(limit.run("a")(work), { startImmediately: true })
      )
      yield* Fiber.interruptAll(fibers)
      yield* end
      assert.strictEqual(limit.size(), 0)
    })
  )
})
