import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import * as Batcher from "../../src/jobs/Batcher.ts"

const writer = Effect.fnUntraced(function* (
  options: {
    readonly refused?: ReadonlyArray<number>
    readonly broken?: ReadonlyArray<number>
    readonly away?: () => boolean
  } = {}
) {
  const written: Array<ReadonlyArray<number>> = []
  const open = yield* Latch.make(true)
  const add = yield* Batcher.make<number, string, "refused" | "away">({
    atOnce: 2,
    atMost: 4,
    isShared: (error) => error === "away",
    write: (entries) =>
      Effect.gen(function* () {
        written.push(entries)
        yield* open.await
        if (options.away?.() === true) return yield* Effect.fail("away" as const)
        if (entries.some((entry) => options.refused?.includes(entry))) return yield* Effect.fail("refused" as const)
        if (entries.some((entry) => options.broken?.includes(entry))) return yield* Effect.die("broken")
        return entries.map((entry) => `answer to ${entry}`)
      })
  })
  const addAll = (entries: ReadonlyArray<number>) =>
    Effect.forkChild(Effect.forEach(entries, (entry) => Effect.exit(add(entry)), { concurrency: "unbounded" }))
  return { written, open, add, addAll }
})

const settled = Effect.replicateEffect(Effect.yieldNow, 50, { discard: true })

describe("Batcher", () => {
  it.effect("writes a single entry at once", () =>
    Effect.gen(function* () {
      const { add, written } = yield* writer()
      for (const entry of [1, 2, 3]) assert.strictEqual(yield* add(entry), `answer to ${entry}`)
      assert.deepStrictEqual(written, [[1], [2], [3]])
    })
  )

  it.effect("batches entries that arrive while all batches are in progress, and returns the answer of each", () =>
    Effect.gen(function* () {
      const { addAll, open, written } = yield* writer()
      open.closeUnsafe()
      const first = yield* addAll([1])
      yield* settled
      const second = yield* addAll([2])
      yield* settled
      const rest = yield* addAll([3, 4, 5, 6, 7, 8])
      yield* settled
      assert.deepStrictEqual(written, [[1], [2]])
      yield* open.open
      const answers = (yield* Effect.forEach([first, second, rest], Fiber.join)).flat()
      assert.deepStrictEqual(written.slice(2), [
        [3, 4, 5, 6],
        [7, 8]
      ])
      assert.deepStrictEqual(
        answers,
        [1, 2, 3, 4, 5, 6, 7, 8].map((entry) => Exit.succeed(`answer to ${entry}`))
      )
    })
  )

  const crowd = Effect.fnUntraced(function* (options: Parameters<typeof writer>[0]) {
    const { addAll, open, written } = yield* writer(options)
    open.closeUnsafe()
    const before = yield* addAll([1, 2])
    yield* settled
    const four = yield* addAll([3, 4, 5, 6])
    yield* settled
    yield* open.open
    yield* Fiber.join(before)
    return { exits: yield* Fiber.join(four), written }
  })

  it.effect.each([
    ["refuses", { refused: [4] }],
    ["fails on", { broken: [4] }]
  ] as const)("retries entries individually when the database %s one of a batch", ([, options]) =>
    Effect.gen(function* () {
      const { exits, written } = yield* crowd(options)
      assert.deepStrictEqual(
        exits.map((exit) => Exit.isSuccess(exit)),
        [true, false, true, true]
      )
      assert.includeDeepMembers([...written], [[3, 4, 5, 6], [3], [4], [5], [6]])
    })
  )

  it.effect("fails the whole batch when the database is unavailable", () =>
    Effect.gen(function* () {
      const { exits, written } = yield* crowd({ away: () => true })
      for (const exit of exits) {
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === "away")
      }
      assert.notDeepInclude(written, [3])
    })
  )

  it.effect("drops entries whose callers were interrupted, and continues", () =>
    Effect.gen(function* () {
      const { add, addAll, open, written } = yield* writer()
      open.closeUnsafe()
      for (const entry of [1, 2]) {
        yield* addAll([entry])
        yield* settled
      }
      const gone = yield* Effect.forkChild(add(3))
      const stays = yield* addAll([4])
      yield* settled
      yield* Fiber.interrupt(gone)
      yield* open.open
      assert.deepStrictEqual(yield* Fiber.join(stays), [Exit.succeed("answer to 4")])
      assert.deepStrictEqual(written, [[1], [2], [4]])
      assert.strictEqual(yield* add(5), "answer to 5")
    })
  )

  it.effect("writes the entries of an owner whose rows are locked apart, one at a time, until one succeeds", () =>
    Effect.gen(function* () {
      const isOdd = (entry: number) => entry % 2 === 1
      const written: Array<ReadonlyArray<number>> = []
      let isLocked = true
      const add = yield* Batcher.make<number, string, "locked">({
        atOnce: 1,
        atMost: 8,
        isShared: () => false,
        owner: { of: (entry) => (isOdd(entry) ? "odd" : "even"), concerns: (error) => error === "locked" },
        write: (entries) =>
          Effect.gen(function* () {
            written.push(entries)
            if (isLocked && entries.some(isOdd)) {
              yield* Effect.sleep("3 seconds")
              return yield* Effect.fail("locked" as const)
            }
            return entries.map((entry) => `answer to ${entry}`)
          })
      })
      const addAll = (entries: ReadonlyArray<number>) =>
        Effect.forEach(entries, (entry) => Effect.forkChild(Effect.exit(add(entry))))
      const [one, two, three, four] = yield* addAll([1, 2, 3, 4])
      yield* settled
      yield* TestClock.adjust("3 seconds")
      for (const fiber of [two!, four!]) assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(written, [[1, 2, 3, 4], [1, 3], [2, 4], [1]])

      const [five, six] = yield* addAll([5, 6])
      yield* settled
      assert.deepStrictEqual(yield* Fiber.join(six!), Exit.succeed("answer to 6"))
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(one!)))

      isLocked = false
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(three!)))
      assert.deepStrictEqual(yield* Fiber.join(five!), Exit.succeed("answer to 5"))
      assert.deepStrictEqual(written.slice(4), [[6], [3], [5]])
      yield* addAll([7, 8])
      yield* settled
      assert.deepStrictEqual(written.at(-1), [7, 8])
    })
  )

  it.effect("writes nothing apart for a caller that was interrupted before its turn", () =>
    Effect.gen(function* () {
      const written: Array<ReadonlyArray<number>> = []
      const add = yield* Batcher.make<number, string, "locked">({
        atOnce: 1,
        atMost: 8,
        isShared: () => false,
        owner: { of: () => "one", concerns: () => true },
        write: (entries) =>
          Effect.andThen(
            Effect.sync(() => void written.push(entries)),
            Effect.delay(Effect.fail("locked" as const), "3 seconds")
          )
      })
      const [, second, third, fourth] = yield* Effect.forEach([1, 2, 3, 4], (entry) =>
        Effect.forkChild(Effect.exit(add(entry)))
      )
      yield* settled
      yield* Fiber.interrupt(second!)
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.interrupt(third!)
      yield* TestClock.adjust("6 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fourth!)))
      assert.deepStrictEqual(written, [[1, 2, 3, 4], [1], [4]])
    })
  )
})
