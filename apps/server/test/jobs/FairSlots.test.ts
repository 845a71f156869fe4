import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as FairSlots from "../../src/jobs/FairSlots.ts"

const start = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(Effect.result(effect), { startImmediately: true })

describe("FairSlots", () => {
  it.live("runs as many effects as there are slots, and groups take turns", () =>
    Effect.gen(function* () {
      const slots = FairSlots.make({ slots: 1, maxJobs: 100, maxJobsPerGroup: 100 })
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

  it.live("refuses what a group or the queue has no room for", () =>
    Effect.gen(function* () {
      const slots = FairSlots.make({ slots: 1, maxJobs: 4, maxJobsPerGroup: 2 })
      const end = yield* Deferred.make<void>()
      const work = (group: string) => start(slots.run(group)(Deferred.await(end)))
      const fibers = yield* Effect.forEach(["a", "a", "a", "a", "b", "b", "b", "c"], work)
      assert.isFalse(slots.isFree())
      yield* Deferred.succeed(end, undefined)
      const results = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(
        results.map((result) => (result._tag === "Success" ? "ran" : result.failure.isGroup ? "group" : "queue")),
        ["ran", "ran", "ran", "group", "ran", "ran", "group", "queue"]
      )
    })
  )

  it.live("an effect that fails, dies or is interrupted frees its slot, and one that waits leaves the queue", () =>
    Effect.gen(function* () {
      const slots = FairSlots.make({ slots: 1, maxJobs: 4, maxJobsPerGroup: 4 })
      yield* Effect.exit(slots.run("a")(Effect.fail("no")))
      yield* Effect.exit(slots.run("a")(Effect.die("no")))
      const fibers = yield* Effect.forEach(Array(4), () => start(slots.run("a")(Effect.never)))
      yield* Fiber.interruptAll(fibers.toReversed())
      assert.isTrue(slots.isFree())
      yield* slots.run("a")(Effect.void)
    })
  )
})
