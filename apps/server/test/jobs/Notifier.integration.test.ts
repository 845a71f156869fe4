/** Workers that share a database and tell each other, by notifications, that they are there. */
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import * as Notifier from "../../src/jobs/Notifier.ts"
import * as WorkerGroup from "../../src/jobs/WorkerGroup.ts"
import { liveDatabases } from "../support/TestDatabase.ts"

const start = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const { join, ownPartitions, wait, wake } = yield* Effect.provide(
    Notifier.Notifier,
    yield* Layer.buildWithScope(Layer.fresh(Notifier.layer), scope)
  )
  const worker = { canClaim: true, ownPartitions, wait, wake, stop: Scope.close(scope, Exit.void) }
  yield* Scope.provide(
    join(() => worker.canClaim),
    scope
  )
  yield* Effect.addFinalizer(() => worker.stop)
  return worker
})

type Worker = Effect.Success<typeof start>

/** Waits until each worker owns as many partitions, and returns them. */
const owned = Effect.fnUntraced(function* (workers: ReadonlyArray<Worker>, ...sizes: ReadonlyArray<number>) {
  const read = () => workers.map((worker) => worker.ownPartitions() ?? WorkerGroup.partitions)
  const hold = () => read().every(({ length }, index) => length === sizes[index])
  for (let looks = 0; looks < 1000 && !hold(); looks++) yield* Effect.sleep("20 millis")
  assert.deepStrictEqual(
    read().map(({ length }) => length),
    [...sizes]
  )
  return read().flat()
})

layer(liveDatabases[0].layer, { timeout: "120 seconds", excludeTestServices: true })("Notifier (Postgres)", (it) => {
  it.effect("shares the partitions among the workers, and again when one joins or leaves", () =>
    Effect.gen(function* () {
      const first = yield* start
      assert.isUndefined(first.ownPartitions())
      const second = yield* start
      assert.sameMembers(yield* owned([first, second], 16, 16), [...WorkerGroup.partitions])
      const third = yield* start
      const three = [first, second, third]
      for (let looks = 0; looks < 1000 && three.some((one) => (one.ownPartitions()?.length ?? 32) > 11); looks++) {
        yield* Effect.sleep("20 millis")
      }
      assert.sameMembers(
        three.flatMap((one) => one.ownPartitions()!),
        [...WorkerGroup.partitions]
      )
      yield* second.stop
      assert.sameMembers(yield* owned([first, third], 16, 16), [...WorkerGroup.partitions])
    })
  )

  it.effect("wakes the other workers for deliveries when one leaves", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* start, yield* start]
      yield* owned([first, second], 16, 16)
      // Each is woken when it begins to listen.
      while (yield* first.wait("deliveries", 500));
      yield* second.stop
      assert.isTrue(yield* first.wait("deliveries", 50_000))
    })
  )

  it.effect("wakes only the workers that own a partition of the given organizations", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* start, yield* start]
      yield* owned([first, second], 16, 16)
      while (yield* first.wait("deliveries", 500));
      while (yield* second.wait("deliveries", 500));
      const ofFirst = [`org_${first.ownPartitions()![0]}`]
      const ofSecond = [`org_${second.ownPartitions()![0]}`]
      // Each is sent in a notification of its own.
      for (const [sender, owner, other, organizations] of [
        [first, second, first, ofSecond],
        [first, first, second, ofFirst]
      ] as const) {
        yield* sender.wake("deliveries", organizations)
        assert.isTrue(yield* owner.wait("deliveries", 50_000))
        assert.isFalse(yield* other.wait("deliveries", 500))
      }
      yield* first.wake("deliveries", [...ofFirst, ...ofSecond])
      assert.isTrue(yield* first.wait("deliveries", 50_000))
      assert.isTrue(yield* second.wait("deliveries", 50_000))
      yield* first.wake("deliveries", ofFirst)
      yield* first.wake("deliveries")
      assert.isTrue(yield* second.wait("deliveries", 50_000))
    })
  )

  it.effect("gives the partitions of a worker that cannot claim to the others, until it can", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* start, yield* start]
      yield* owned([first, second], 16, 16)
      second.canClaim = false
      yield* owned([first], 32)
      second.canClaim = true
      yield* owned([first, second], 16, 16)
    })
  )
})

layer(liveDatabases[1].layer, { timeout: "120 seconds", excludeTestServices: true })("Notifier (embedded)", (it) => {
  it.effect("leaves all partitions to the only process of an embedded database", () =>
    Effect.gen(function* () {
      const worker = yield* start
      assert.isUndefined(worker.ownPartitions())
    })
  )
})
