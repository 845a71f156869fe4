import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as QueryTimeout from "../../src/database/QueryTimeout.ts"

/** A statement whose connection lost its peer: it has no answer, and takes five seconds to be interrupted. */
const lost = (ends: Array<string>) =>
  Effect.onInterrupt(Effect.never, () =>
    Effect.andThen(
      Effect.sleep(5000),
      Effect.sync(() => ends.push("closed"))
    )
  )

describe("a statement that requests share", () => {
  it.effect("times out without waiting until its connection is closed", () =>
    Effect.gen(function* () {
      const ends: Array<string> = []
      const withTimeout = QueryTimeout.withSharedTimeout(yield* Effect.scope)
      const caller = yield* Effect.forkChild(Effect.exit(withTimeout(lost(ends))))
      yield* TestClock.adjust(QueryTimeout.sharedMs - 1)
      assert.isUndefined(caller.pollUnsafe())
      yield* TestClock.adjust(1)
      const exit = caller.pollUnsafe()
      assert.isDefined(exit)
      assert.include(JSON.stringify(exit), "StatementTimeoutError")
      assert.deepStrictEqual(ends, [])
      yield* TestClock.adjust(5000)
      assert.deepStrictEqual(ends, ["closed"])
    })
  )

  it.effect("is interrupted with its caller, and has its own answer or error", () =>
    Effect.gen(function* () {
      const ends: Array<string> = []
      const withTimeout = QueryTimeout.withSharedTimeout(yield* Effect.scope)
      const caller = yield* Effect.forkChild(withTimeout(lost(ends)))
      yield* TestClock.adjust(1)
      yield* Fiber.interrupt(caller)
      yield* TestClock.adjust(5000)
      assert.deepStrictEqual(ends, ["closed"])
      assert.strictEqual(yield* withTimeout(Effect.succeed(1)), 1)
      assert.deepStrictEqual(yield* Effect.exit(withTimeout(Effect.fail("refused"))), Exit.fail("refused"))
    })
  )
})
