import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Slots from "../../src/limits/Slots.ts"

const many = { maxWaiting: 100, maxWaitingPerGroup: 100, maxWaitMs: 60_000 }

const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(Effect.result(effect), { startImmediately: true })

describe("Slots", () => {
  it.live("runs as many effects as there are slots, and groups take turns", () =>
    Effect.gen(function* () {
      const slots = Slots.make({ slots: 1, ...many })
      const order: Array<string> = []
      let running = 0
      let most = 0
      const work = (group: string) =>
        slots.run(group)(
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            order.push(group)
            yield* Effect.sleep(5)
            running--
          })
        )
      const busy = yield* Effect.forEach(Array(20), () => start(work("busy")))
      const others = yield* Effect.forEach(["a", "b", "c"], (group) => start(work(group)))
      yield* Effect.forEach([...busy, ...others], Fiber.join)
      assert.strictEqual(most, 1)
      assert.sameMembers(
        order.slice(1, 5).filter((group) => group !== "busy"),
        ["a", "b", "c"]
      )
      assert.isTrue(slots.isFree())
    })
  )

  it.live("runs as many effects of a group as it allows, and those of another one beside them", () =>
    Effect.gen(function* () {
      const slots = Slots.make({ slots: 10, slotsPerGroup: 2, ...many })
      const end = yield* Deferred.make<void>()
      const running: Array<string> = []
      const work = (group: string) =>
        slots.run(group)(
          Effect.andThen(
            Effect.sync(() => running.push(group)),
            Deferred.await(end)
          )
        )
      const fibers = yield* Effect.forEach(["a", "a", "a", "a", "b", "a", "b", "b"], (group) => start(work(group)))
      assert.deepStrictEqual(running, ["a", "a", "b", "b"])
      yield* Deferred.succeed(end, undefined)
      yield* Effect.forEach(fibers, Fiber.join)
      assert.lengthOf(running, 8)
      assert.isTrue(slots.isFree())
    })
  )

  it.live(
    "refuses at once what a group has no room for, and the last of the largest group where the queue has none",
    () =>
      Effect.gen(function* () {
        const slots = Slots.make({ slots: 1, maxWaiting: 4, maxWaitingPerGroup: 2, maxWaitMs: 60_000 })
        const end = yield* Deferred.make<void>()
        const work = (group: string) => start(slots.run(group)(Deferred.await(end)))
        const fibers = yield* Effect.forEach(["a", "a", "a", "a", "b", "b", "b", "c"], work)
        yield* Deferred.succeed(end, undefined)
        const results = yield* Effect.forEach(fibers, Fiber.join)
        assert.deepStrictEqual(
          results.map(({ _tag }) => _tag === "Success"),
          [true, true, false, false, true, true, false, true]
        )
      })
  )

  it.live("refuses what has waited for too long, and keeps its slots", () =>
    Effect.gen(function* () {
      const slots = Slots.make({ slots: 1, ...many, maxWaitMs: 20 })
      const end = yield* Deferred.make<void>()
      const running = yield* start(slots.run("a")(Deferred.await(end)))
      const late = yield* Effect.flip(slots.run("a")(Effect.void))
      assert.strictEqual(late._tag, "NoSlot")
      assert.isFalse(slots.isFree())
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(running)
      assert.isTrue(slots.isFree())
      yield* slots.run("a")(Effect.void)
    })
  )

  it.live("an effect that fails, dies or is interrupted frees its slot, and one that waits leaves the queue", () =>
    Effect.gen(function* () {
      const slots = Slots.make({ slots: 1, ...many })
      yield* Effect.exit(slots.run("a")(Effect.fail("no")))
      yield* Effect.exit(slots.run("a")(Effect.die("no")))
      const fibers = yield* Effect.forEach(Array(4), () => start(slots.run("a")(Effect.never)))
      yield* Fiber.interruptAll(fibers.toReversed())
      assert.isTrue(slots.isFree())
      yield* slots.run("a")(Effect.void)
    })
  )

  // A thousand requests may wait, and each can end as soon as it has its turn.
  it.live("runs any number of effects that end at once, one after the other", () =>
    Effect.gen(function* () {
      const slots = Slots.make({ slots: 1, maxWaiting: 1e5, maxWaitingPerGroup: 1e5, maxWaitMs: 60_000 })
      const end = yield* Deferred.make<void>()
      const first = yield* start(slots.run("a")(Deferred.await(end)))
      let depth = 0
      const work = Effect.sync(() => {
        depth = Math.max(depth, new Error().stack!.split("\n").length)
      })
      const limit = Error.stackTraceLimit
      Error.stackTraceLimit = Infinity
      const all = yield* Effect.forEach(Array(3000), () => start(slots.run("a")(work)))
      yield* Deferred.succeed(end, undefined)
      yield* Effect.forEach([first, ...all], Fiber.join)
      Error.stackTraceLimit = limit
      assert.isBelow(depth, 500)
      assert.isTrue(slots.isFree())
    })
  )
})
